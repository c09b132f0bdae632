// OpenMP 5.2, section 16.1: every thread leaves a cancelled region, at cancellation points and barriers; the code after them
// is not executed; later regions work normally.
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
