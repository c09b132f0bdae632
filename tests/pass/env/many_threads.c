// OpenMP 5.2, section 21.1.2: OMP_NUM_THREADS=16 on any machine.
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=16
#include "../../check.h"
int main(void) {
  int total = 0;
#pragma omp parallel reduction(+ : total)
  total += omp_get_num_threads();
  CHECK(total == 256);
  return DONE();
}
