// OpenMP 5.2, section 5.4.5: lastprivate on sections gives the lexically last section's value; firstprivate its start.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int x = 5, y = 50;
#pragma omp parallel sections num_threads(3) firstprivate(y) lastprivate(x)
  {
#pragma omp section
    { x = 1; CHECK(y == 50 || y == 51); y = 51; }
#pragma omp section
    { x = 2; CHECK(y == 50 || y == 51); y = 51; }
#pragma omp section
    x = 3;
  }
  CHECK(x == 3 && y == 50);
  return DONE();
}
