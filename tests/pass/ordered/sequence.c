// OpenMP 5.2, section 15.10.2: ordered regions run in iteration order under every schedule.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#define LOOP(schedule_) { \
    int next = 0; \
    _Pragma(schedule_) \
    for (int i = 0; i < 60; i++) { \
      _Pragma("omp ordered") \
      { CHECK(next == i); next++; } \
    } \
    CHECK(next == 60); }
int main(void) {
  LOOP("omp parallel for ordered num_threads(4)")
  LOOP("omp parallel for ordered num_threads(4) schedule(static, 1)")
  LOOP("omp parallel for ordered num_threads(4) schedule(static, 7)")
  LOOP("omp parallel for ordered num_threads(4) schedule(dynamic)")
  LOOP("omp parallel for ordered num_threads(4) schedule(dynamic, 4)")
  LOOP("omp parallel for ordered num_threads(4) schedule(guided, 3)")
  LOOP("omp parallel for ordered num_threads(4) schedule(runtime)")
  LOOP("omp parallel for ordered num_threads(4) schedule(auto)")
  return DONE();
}
