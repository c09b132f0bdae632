// OpenMP 5.2, section 21.1.2: beyond the end of the list in OMP_NUM_THREADS its last value holds.
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=2,3
// env: OMP_MAX_ACTIVE_LEVELS=4
#include "../../check.h"
int main(void) {
  int count = 0;
#pragma omp parallel
#pragma omp parallel
#pragma omp parallel
#pragma omp atomic
  count++;
  CHECK(count == 2 * 3 * 3);
  return DONE();
}
