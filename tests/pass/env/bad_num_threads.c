// OpenMP 5.2, section 21.1.2: an OMP_NUM_THREADS that is no number is ignored.
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=several
// native: skip (libomp 19 stops with an assertion of its own or hangs)
#include "../../check.h"
int main(void) {
  int size = 0;
#pragma omp parallel
#pragma omp single
  size = omp_get_num_threads();
  CHECK(size >= 1 && size == omp_get_max_threads());
  return DONE();
}
