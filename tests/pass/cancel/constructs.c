// OpenMP 5.2, section 16.1: a region is cancelled by one thread while others are inside loops, single, ordered and
// reductions, or in functions whose barriers are unaware of it; later regions of the same team work normally.
// stdout: ok
// levels: O0 O2
// env: OMP_CANCELLATION=true
// native: libomp waits without end for threads that have left
#include "../../check.h"
static int singles, late, work;
__attribute__((noinline)) static void orphaned(void) {
#pragma omp barrier
#pragma omp single
#pragma omp atomic
  singles++;
}
int main(void) {
  for (int round = 0; round < 60; round++) {
    long sum = 0;
#pragma omp parallel num_threads(5)
    {
      if (omp_get_thread_num() == round % 5) {
#pragma omp cancel parallel
      }
      if (round & 1) orphaned();
      for (int r = 0; r < 12; r++) {
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < 20; i++) {
#pragma omp atomic
          work++;
        }
#pragma omp cancellation point parallel
      }
#pragma omp for ordered reduction(+ : sum) schedule(static, 1)
      for (int i = 0; i < 20; i++) {
#pragma omp ordered
        sum += i;
      }
#pragma omp single
#pragma omp atomic
      singles++;
#pragma omp barrier
#pragma omp atomic
      late++;
    }
    int one = 0, turns = 0;
    long total = 0;
#pragma omp parallel num_threads(5) reduction(+ : total)
    {
#pragma omp single
      one++;
#pragma omp for schedule(nonmonotonic : dynamic)
      for (int i = 0; i < 100; i++) total += i;
#pragma omp for ordered
      for (int i = 0; i < 20; i++) {
#pragma omp ordered
        CHECK(turns++ == i);
      }
    }
    CHECK(one == 1 && total == 4950 && turns == 20);
  }
  CHECK(late == 0);
  return DONE();
}
