// exit: 4
// flags: -pthread -std=c++20
// call_once with a throwing first attempt, barrier, latch, semaphore, jthread with stop tokens.
// Each semaphore has one thread that acquires and at most one unit. With more, libstdc++ 12 can
// sleep forever, natively as well: acquire reads 1, finds 0, and waits while the value is 1; a
// release to 1 and one to 2 in between do not wake it.
#include <atomic>
#include <barrier>
#include <cstdio>
#include <latch>
#include <mutex>
#include <semaphore>
#include <stop_token>
#include <thread>
#include <vector>
int main() {
  std::once_flag o;
  int tries = 0;
  for (int i = 0; i < 4; i++) try {
      std::call_once(o, [&] {
        if (++tries < 3) throw tries;
      });
    } catch (int e) { std::printf("t%d ", e); }
  int phases = 0;
  std::barrier b(3, [&]() noexcept { phases++; });
  std::latch done(3);
  std::counting_semaphore<2> ball[3] = {
      std::counting_semaphore<2>(1), std::counting_semaphore<2>(0), std::counting_semaphore<2>(0)};
  std::atomic<int> in{0}, mx{0};
  std::vector<std::thread> v;
  for (int i = 0; i < 3; i++)
    v.emplace_back([&, i] {
      for (int k = 0; k < 4; k++) b.arrive_and_wait();
      for (int k = 0; k < 20; k++) {
        ball[i].acquire();
        int n = ++in;
        int m = mx;
        while (m < n && !mx.compare_exchange_weak(m, n)) {}
        --in;
        ball[(i + 1) % 3].release();
      }
      done.count_down();
    });
  done.wait();
  for (auto &t : v) t.join();
  std::atomic<int> loops{0};
  {
    std::jthread j([&](std::stop_token s) {
      while (!s.stop_requested()) {
        loops++;
        std::this_thread::yield();
      }
    });
    while (loops == 0) std::this_thread::yield();
  }
  std::printf("%d %d %d %d\n", tries, phases, (int)mx, loops > 0);
  return phases;
}
