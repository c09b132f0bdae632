// OpenMP 5.2, section 11.1: private and firstprivate on single.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int x = 4, y = 9, out = 0;
#pragma omp parallel num_threads(3)
#pragma omp single private(x) firstprivate(y)
  {
    x = 1;
    y += x;
    out = y;
  }
  CHECK(x == 4 && y == 9 && out == 10);
  return DONE();
}
