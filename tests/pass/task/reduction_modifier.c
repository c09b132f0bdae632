// OpenMP 5.2, section 5.5.8: reductions of parallel and worksharing constructs with the task modifier.
// flags: -fopenmp-version=50
// stdout: ok
#include "../../check.h"
int main(void) {
  int sum = 0;
#pragma omp parallel reduction(task, + : sum)
  {
    sum++;
    for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : sum)
      sum += 2;
    }
  }
  CHECK(sum % 21 == 0 && sum > 0);
  int loop = 0, parts = 0;
#pragma omp parallel
  {
#pragma omp for reduction(task, + : loop)
    for (int i = 0; i < 100; i++) {
      loop++;
#pragma omp task in_reduction(+ : loop)
      {
        loop += 10;
#pragma omp task in_reduction(+ : loop)
        loop += 100;
      }
    }
#pragma omp sections reduction(task, + : parts)
    {
#pragma omp section
#pragma omp task in_reduction(+ : parts)
      parts += 3;
#pragma omp section
      parts += 4;
    }
  }
  CHECK(loop == 11100 && parts == 7);
  return DONE();
}
