// OpenMP 5.2, section 5.4.1: default(firstprivate) and default(private) decide for variables without a clause.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=52
#include "../../check.h"
int main(void) {
  int a = 5, b = 6, sum = 0;
#pragma omp parallel default(firstprivate) shared(sum, check_failures) num_threads(3)
  {
    a += omp_get_thread_num();
    CHECK(a == 5 + omp_get_thread_num() && b == 6);
#pragma omp atomic
    sum += a;
  }
  CHECK(a == 5 && sum == 5 + 6 + 7);
#pragma omp parallel default(private) shared(sum, check_failures) num_threads(2)
  {
    b = omp_get_thread_num();
#pragma omp atomic
    sum += b;
  }
  CHECK(b == 6 && sum == 19);
  return DONE();
}
