// OpenMP 5.2, section 12.5: task. A task created by one thread is executed by the end of the region, and before a barrier.
// stdout: ok
#include "../../check.h"
int main(void) {
  int x = 0, y = 0;
#pragma omp parallel
#pragma omp single
#pragma omp task shared(x)
  x = 1;
  CHECK(x == 1);
#pragma omp parallel
  {
#pragma omp masked
#pragma omp task shared(y)
    y = 2;
#pragma omp barrier
    CHECK(y == 2);
  }
#pragma omp parallel
#pragma omp masked
#pragma omp task shared(y)
  y = 3;
  CHECK(y == 3);
  return DONE();
}
