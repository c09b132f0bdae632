// OpenMP 5.2, section 5.5.10: a target region takes part in a reduction of the host's taskgroup.
#include "../../check.h"
int main(void) {
  int sum = 1;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
  {
#pragma omp task in_reduction(+ : sum)
    sum += 10;
#pragma omp target in_reduction(+ : sum)
    sum += 100;
  }
  CHECK(sum == 111);
  return DONE();
}
