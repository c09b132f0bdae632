// std::atomic operations with their memory orders between the threads of a team, next to OpenMP atomics.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <atomic>
int main() {
  std::atomic<int> n{0}, top{-1}; std::atomic<double> d{0}; std::atomic_flag spin = ATOMIC_FLAG_INIT; long plain = 0;
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 200; i++) {
    n.fetch_add(1, std::memory_order_relaxed);
    for (double old = d.load(); !d.compare_exchange_weak(old, old + 0.5);) {}
    int mine = i * 4 + omp_get_thread_num(), seen = top.load(std::memory_order_acquire);
    while (seen < mine && !top.compare_exchange_strong(seen, mine, std::memory_order_acq_rel)) {}
    while (spin.test_and_set(std::memory_order_acquire)) sched_yield();
    plain++;
    spin.clear(std::memory_order_release);
  }
  CHECK(n == 800 && d == 400 && top == 799 && plain == 800);
  return DONE();
}
