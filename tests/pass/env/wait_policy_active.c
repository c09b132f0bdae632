// OpenMP 5.2, section 21.2.3: OMP_WAIT_POLICY=active changes no result, with more threads than processors too.
// stdout: ok
// levels: O0 O2
// env: OMP_WAIT_POLICY=active
#include "../../check.h"
int main(void) {
  long count = 0;
  for (int r = 0; r < 10; r++) {
#pragma omp parallel num_threads(3) reduction(+ : count)
    {
      count++;
#pragma omp barrier
      count++;
    }
  }
  CHECK(count == 60);
  return DONE();
}
