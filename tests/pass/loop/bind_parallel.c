// OpenMP 5.2, section 11.7: the loop construct bound to the parallel region runs each iteration once.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=52
#include "../../check.h"
int main(void) {
  int v[300] = {0}, sum = 0;
#pragma omp parallel num_threads(4)
  {
#pragma omp loop bind(parallel)
    for (int i = 0; i < 300; i++) v[i] += i;
#pragma omp loop bind(thread)
    for (int i = 0; i < 3; i++)
      ;
  }
#pragma omp parallel loop num_threads(3) reduction(+ : sum) collapse(2) order(concurrent)
  for (int i = 0; i < 10; i++)
    for (int j = 0; j < 30; j++) sum += v[i * 30 + j];
  CHECK(sum == 299 * 150);
  return DONE();
}
