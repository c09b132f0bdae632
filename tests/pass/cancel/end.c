// OpenMP 5.2, sections 16.1 and 16.2: the implicit barrier at a region's end is a cancellation point, so threads that reach it without another one meet those that leave the cancelled region.
// env: OMP_CANCELLATION=true
// levels: O0 O2
// native: who leaves waits at a barrier that is not the one at the end of the region
// stdout: ok
#include "../../check.h"
int main(void) {
  omp_set_dynamic(0);
  for (int round = 0; round < 100; round++) {
    int passed = 0, size = 2 + round % 4;
#pragma omp parallel num_threads(size)
    {
      if (omp_get_thread_num() == round % 2) {
#pragma omp cancel parallel
        CHECK(0);
      }
#pragma omp atomic
      passed++;
    }
    CHECK(passed == size - 1);
  }
  return DONE();
}
