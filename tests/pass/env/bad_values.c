// OpenMP 5.2, section 21: values that make no sense are ignored with at most a warning; the program runs.
// stdout: ok
// levels: O0 O2
// env: OMP_MAX_ACTIVE_LEVELS=many OMP_SCHEDULE=fastest,1 OMP_STACKSIZE=huge OMP_DYNAMIC=perhaps
#include "../../check.h"
int main(void) {
  int n = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : n)
  for (int i = 0; i < 100; i++) n++;
  CHECK(n == 100);
  return DONE();
}
