// OpenMP 5.2, section 8.4: the nothing directive has no effect.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=52
#include "../../check.h"
int main(void) {
  int x = 1;
#pragma omp nothing
  x++;
  CHECK(x == 2);
  return DONE();
}
