// OpenMP 5.2, section 21.1.2: OMP_NUM_THREADS=3.
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=3
#include "../../check.h"
int main(void) {
  int size = 0;
#pragma omp parallel
#pragma omp single
  size = omp_get_num_threads();
  CHECK(size == 3 && omp_get_max_threads() == 3);
  return DONE();
}
