// OpenMP 5.2, section 17.3: the combined parallel masked and parallel master.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int a = 0, b = 0;
#pragma omp parallel masked num_threads(3) filter(1)
  a += omp_get_thread_num() * 10;
#pragma omp parallel master num_threads(3)
  b += omp_get_thread_num() + 1;
  CHECK(a == 10 && b == 1);
  return DONE();
}
