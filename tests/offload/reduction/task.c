// OpenMP 5.2, sections 5.5.9 and 5.5.10: task_reduction and in_reduction of tasks in a region of the device.
#include "../../check.h"
int main(void) {
  int sum = 10;
#pragma omp target map(tofrom : sum)
#pragma omp parallel num_threads(4)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
  for (int i = 0; i < 20; i++) {
#pragma omp task in_reduction(+ : sum)
    sum += i;
  }
  CHECK(sum == 200);
  return DONE();
}
