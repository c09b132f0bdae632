// OpenMP 5.2, section 21.2.3: OMP_WAIT_POLICY=passive changes no result.
// stdout: ok
// levels: O0 O2
// env: OMP_WAIT_POLICY=passive
#include "../../check.h"
int main(void) {
  long count = 0;
  for (int r = 0; r < 100; r++) {
#pragma omp parallel num_threads(4) reduction(+ : count)
    {
      count++;
#pragma omp barrier
      count++;
    }
  }
  CHECK(count == 800);
  return DONE();
}
