// OpenMP 5.2, section 11.2: scope runs in every thread and may reduce, privatize, and skip its barrier.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=52
#include "../../check.h"
int main(void) {
  int sum = 0, x = 7;
#pragma omp parallel num_threads(4)
  {
#pragma omp scope reduction(+ : sum)
    sum += omp_get_thread_num() + 1;
    CHECK(sum == 10);
#pragma omp scope private(x) nowait
    {
      x = omp_get_thread_num();
      CHECK(x == omp_get_thread_num());
    }
  }
  CHECK(sum == 10 && x == 7);
  return DONE();
}
