// OpenMP 5.2, section 21.2.6: without OMP_CANCELLATION nothing is cancelled.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int through = 0, iterations = 0, sections = 0;
  CHECK(!omp_get_cancellation());
#pragma omp parallel
  {
#pragma omp cancel parallel
#pragma omp for
    for (int i = 0; i < 100; i++) {
#pragma omp cancel for
#pragma omp atomic
      iterations++;
#pragma omp cancellation point for
    }
#pragma omp sections
    {
#pragma omp section
      {
#pragma omp cancel sections
#pragma omp atomic
        sections++;
      }
    }
#pragma omp cancellation point parallel
#pragma omp barrier
#pragma omp atomic
    through++;
  }
  CHECK(through == omp_get_max_threads() && iterations == 100 && sections == 1);
  return DONE();
}
