// exit: 1
// flags: -pthread
// Kinds of futures: async, deferred, promise, packaged_task, shared_future, wait_for.
#include <chrono>
#include <cstdio>
#include <future>
#include <numeric>
#include <thread>
#include <vector>
int main() {
  std::vector<int> v(1000);
  std::iota(v.begin(), v.end(), 1);
  auto part = [&](int lo, int hi) { return std::accumulate(v.begin() + lo, v.begin() + hi, 0L); };
  auto a = std::async(std::launch::async, part, 0, 500), b = std::async(std::launch::async, part, 500, 1000);
  int ran = 0;
  auto d = std::async(std::launch::deferred, [&] { return ++ran; });
  std::promise<int> p;
  std::shared_future<int> s = p.get_future().share();
  std::thread t1([s, &p] { p.set_value(21); });
  int twice = s.get() + s.get();
  t1.join();
  std::packaged_task<int(int, int)> k([](int x, int y) { return x * y; });
  auto f = k.get_future();
  k(6, 7);
  bool ready = f.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  long sum = a.get() + b.get();
  std::printf("%ld %d %d %d %d %d\n", sum, ran, d.get(), twice, f.get(), ready);
  return ran;
}
