// OpenMP 5.2, section 11.2: a scope with private variables and a reduction within a region.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int sum = 7, threads = 0, p = 100;
#pragma omp target parallel num_threads(16) map(tofrom : sum, threads) firstprivate(p)
  {
#pragma omp scope private(p) reduction(+ : sum)
    {
      p = omp_get_thread_num();
      sum += p;
    }
#pragma omp masked
    threads = omp_get_num_threads();
  }
  CHECK(sum == 7 + threads * (threads - 1) / 2 && threads >= 1);
  return DONE();
}
