// OpenMP 5.2, section 5.5.8: a loop's reduction inside a region, read after the loop by every thread, many times over.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(4)
  for (int round = 0; round < 50; round++) {
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < 37; i++) sum += i;
    CHECK(sum == 666);
#pragma omp barrier
#pragma omp single
    sum = 0;
  }
  CHECK(sum == 0);
  return DONE();
}
