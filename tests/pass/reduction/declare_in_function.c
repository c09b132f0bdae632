// OpenMP 5.2, section 5.5.11: declare reduction at block scope hides the outer one.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#pragma omp declare reduction(fold : int : omp_out += omp_in) initializer(omp_priv = 0)
int main(void) {
  int outer = 1, inner = 1;
#pragma omp parallel num_threads(3) reduction(fold : outer)
  outer += 1;
  {
#pragma omp declare reduction(fold : int : omp_out *= omp_in) initializer(omp_priv = 1)
#pragma omp parallel num_threads(3) reduction(fold : inner)
    inner *= 2;
  }
  CHECK(outer == 4 && inner == 8);
  return DONE();
}
