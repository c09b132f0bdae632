// OpenMP 5.2, section 16.1: a cancelled region is left by every thread, at cancellation points and barriers; what follows
// in it is not executed; the next regions are whole.
// stdout: ok
// levels: O0 O2
// env: OMP_CANCELLATION=true
#include "../../check.h"
int main(void) {
  int late = 0, whole = 0;
  CHECK(omp_get_cancellation());
  for (int round = 0; round < 50; round++) {
#pragma omp parallel
    {
      int me = omp_get_thread_num();
      if (me == round % omp_get_num_threads()) {
#pragma omp cancel parallel
#pragma omp atomic
        late++;
      }
      if (me & 1) {
        for (long i = 0; i < 20000000; i++) {
          sched_yield();
#pragma omp cancellation point parallel
        }
#pragma omp atomic
        late++;
      }
#pragma omp barrier
#pragma omp atomic
      late++;
    }
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp atomic
      whole++;
    }
  }
  CHECK(late == 0);
  CHECK(whole == 50 * omp_get_max_threads());
  return DONE();
}
