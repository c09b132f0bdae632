// OpenMP 5.2, section 15.3.2: without nowait all writes of a loop are visible to all threads after it.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int v[64] = {0};
#pragma omp parallel num_threads(4)
  for (int round = 1; round <= 30; round++) {
#pragma omp for schedule(dynamic, 5)
    for (int i = 0; i < 64; i++) v[i] = round;
    for (int i = 0; i < 64; i++) CHECK(v[i] == round);
#pragma omp barrier
  }
  return DONE();
}
