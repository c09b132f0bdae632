// flags: -pthread -std=c++20
// std::atomic of every sort: integers, pointers, flags, structs, wait and notify, atomic_ref, fetch_add on doubles.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>
struct P {
  short a, b;
};
int main() {
  std::atomic<int> i{5};
  std::atomic<long> l{0};
  std::atomic<unsigned char> c{250};
  std::atomic<double> d{0.5};
  int arr[10];
  std::atomic<int *> p{arr};
  std::atomic<P> s{P{1, 2}};
  std::atomic<bool> go{false};
  std::atomic_flag f = ATOMIC_FLAG_INIT;
  std::vector<std::thread> t;
  long plain = 0;
  for (int k = 0; k < 3; k++)
    t.emplace_back([&, k] {
      go.wait(false);
      for (int n = 0; n < 300; n++) {
        l.fetch_add(k + 1, std::memory_order_relaxed);
        d.fetch_add(0.25);
        while (f.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
        std::atomic_ref(plain).fetch_add(1);
        f.clear(std::memory_order_release);
        P e = s.load();
        while (!s.compare_exchange_weak(e, P{static_cast<short>(e.a + 1), e.b}));
      }
    });
  go = true;
  go.notify_all();
  for (auto &x : t) x.join();
  c += 10;
  p += 3;
  p--;
  i ^= 3;
  int ex = 6;
  bool ok = i.compare_exchange_strong(ex, 60, std::memory_order_acq_rel, std::memory_order_acquire);
  std::printf("%d %d %ld %d %g %td %d %ld %d\n", i.load(), ok, l.load(), c.load(), d.load(), p.load() - arr, s.load().a,
              plain, i.is_lock_free());
  return 0;
}
