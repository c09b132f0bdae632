// OpenMP 5.2, section 5.5.8: the deprecated operator - combines by adding.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int x = 100; double y = 10;
#pragma omp parallel for num_threads(4) reduction(- : x, y)
  for (int i = 0; i < 10; i++) x -= i, y -= 0.5;
  CHECK(x == 55 && y == 5);
  return DONE();
}
