// OpenMP 5.2, sections 11.5.3 and 11.6: loops and chunks of fewer iterations than there are threads or teams. For
// chunks of one iteration, compiled code compares the begin of a thread's share with the end of the whole loop.
// stdout: ok
// levels: O0 O2
// optional: teams on the host
#include "../../check.h"
#include <stdint.h>

#define LOOPS(TYPE)                                                                                \
  static void loops_##TYPE(TYPE from, TYPE n) {                                                    \
    long want = 0, sums[10] = {0};                                                                 \
    for (TYPE i = from; i < from + n; i++) want += 1000 + i;                                       \
    _Pragma("omp parallel num_threads(4)") {                                                       \
      _Pragma("omp for schedule(static, 1) reduction(+ : sums)")                                   \
      for (TYPE i = from; i < from + n; i++) sums[0] += 1000 + i;                                  \
      _Pragma("omp for schedule(static) reduction(+ : sums)")                                      \
      for (TYPE i = from; i < from + n; i++) sums[1] += 1000 + i;                                  \
      _Pragma("omp for schedule(static, 3) reduction(+ : sums)")                                   \
      for (TYPE i = from; i < from + n; i++) sums[2] += 1000 + i;                                  \
      _Pragma("omp for simd schedule(static, 1) reduction(+ : sums)")                              \
      for (TYPE i = from; i < from + n; i++) sums[3] += 1000 + i;                                  \
      _Pragma("omp for schedule(static, 1) reduction(+ : sums)")                                   \
      for (TYPE i = from + n; i > from; i--) sums[4] += 1000 + i - 1;                              \
    }                                                                                              \
    _Pragma("omp teams distribute parallel for num_teams(2) thread_limit(4) num_threads(4) dist_schedule(static, 5) schedule(static, 1) reduction(+ : sums)") \
    for (TYPE i = from; i < from + n; i++) sums[5] += 1000 + i;                                    \
    _Pragma("omp teams distribute parallel for num_teams(2) thread_limit(4) num_threads(4) schedule(static, 1) reduction(+ : sums)") \
    for (TYPE i = from; i < from + n; i++) sums[6] += 1000 + i;                                    \
    _Pragma("omp teams distribute parallel for num_teams(3) thread_limit(4) num_threads(4) dist_schedule(static, 1) reduction(+ : sums)") \
    for (TYPE i = from; i < from + n; i++) sums[7] += 1000 + i;                                    \
    _Pragma("omp teams distribute num_teams(3) dist_schedule(static, 1) reduction(+ : sums)")      \
    for (TYPE i = from; i < from + n; i++) sums[8] += 1000 + i;                                    \
    _Pragma("omp teams distribute parallel for simd num_teams(2) thread_limit(4) num_threads(4) dist_schedule(static, 6) schedule(static, 2) reduction(+ : sums)") \
    for (TYPE i = from; i < from + n; i++) sums[9] += 1000 + i;                                    \
    for (int k = 0; k < 10; k++) CHECK(sums[k] == want);                                           \
  }
LOOPS(int32_t)
LOOPS(uint32_t)
LOOPS(int64_t)
LOOPS(uint64_t)

int main(void) {
  for (int n = 0; n < 14; n++)
    for (int from = 0; from < 30; from += 7) {
      loops_int32_t(from - 14, n), loops_int64_t(from - 14, n);
      loops_uint32_t(from, n), loops_uint64_t(from, n);
    }
  return DONE();
}
