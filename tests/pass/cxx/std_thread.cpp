// std::thread, std::mutex and std::call_once next to parallel regions.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <mutex>
#include <thread>
#include <vector>
int main() {
  std::mutex m; std::once_flag flag; int total = 0, once = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++)
    threads.emplace_back([&, t] {
#pragma omp parallel num_threads(2)
      {
        std::call_once(flag, [&] { once++; });
        std::lock_guard<std::mutex> guard(m);
        total += t + 1;
      }
    });
  for (auto &t : threads) t.join();
  CHECK(total == 12 && once == 1);
  return DONE();
}
