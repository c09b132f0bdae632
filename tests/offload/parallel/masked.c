// OpenMP 5.2, section 10.5: masked with a filter, master, single with nowait.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int m = 0, f = 0, s = 0;
#pragma omp target parallel num_threads(6) map(tofrom : m, f, s)
  {
#pragma omp masked
    m++;
#pragma omp masked filter(omp_get_num_threads() - 1)
    f += 1 + omp_get_thread_num() - (omp_get_num_threads() - 1);
#pragma omp single nowait
    s++;
  }
  CHECK(m == 1 && f == 1 && s == 1);
  return DONE();
}
