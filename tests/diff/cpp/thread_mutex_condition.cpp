// flags: -pthread -std=c++17
// std::thread, mutex, lock_guard, unique_lock, condition_variable, scoped_lock of two, shared_mutex.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <queue>
#include <shared_mutex>
#include <thread>
#include <vector>
int main() {
  std::mutex m, n;
  std::condition_variable cv;
  std::queue<int> q;
  bool done = false;
  long sum = 0;
  int a = 100, b = 0;
  std::shared_mutex sm;
  int shared = 0;
  std::thread cons([&] {
    for (;;) {
      std::unique_lock l(m);
      cv.wait(l, [&] { return done || !q.empty(); });
      if (q.empty()) return;
      sum += q.front();
      q.pop();
    }
  });
  std::vector<std::thread> ps;
  for (int t = 1; t <= 3; t++)
    ps.emplace_back([&, t] {
      for (int i = 0; i < 40; i++) {
        {
          std::lock_guard g(m);
          q.push(i * t);
        }
        cv.notify_one();
        std::scoped_lock l(t % 2 ? m : n, t % 2 ? n : m);
        a--;
        b++;
      }
      for (int i = 0; i < 20; i++) {
        std::unique_lock w(sm);
        shared++;
        w.unlock();
        std::shared_lock r(sm);
        if (shared < 1) std::abort();
      }
    });
  for (auto &p : ps) p.join();
  {
    std::lock_guard g(m);
    done = true;
  }
  cv.notify_all();
  cons.join();
  std::printf("%ld %d %d %d\n", sum, a, b, shared);
  return 0;
}
