// OpenMP 5.2, sections 12.5 and 15.9.5: an undeferred task waits for its dependences only.
// stdout: ok
#include "../../check.h"
int main(void) {
  int x = 0, y = 0, z = 0;
#pragma omp task shared(x) depend(out : x)
  x = 1;
#pragma omp task shared(x) depend(inout : x) if (0)
  x++;
  CHECK(x == 2);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 50; i++) {
    x = y = z = 0;
#pragma omp task shared(x) depend(out : x)
    x = 1;
#pragma omp task shared(y) depend(out : y)
    y = 1;
#pragma omp task shared(x, z) depend(in : x) depend(out : z) if (0)
    {
      CHECK(x == 1);
      z = x + 1;
    }
    CHECK(z == 2);
#pragma omp task shared(z, y) depend(in : z, y)
    CHECK(z == 2 && y == 1);
#pragma omp taskwait
  }
  return DONE();
}
