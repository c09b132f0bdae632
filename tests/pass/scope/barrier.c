// OpenMP 5.2, section 11.2: scope ends with a barrier: every thread's write is seen after it.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=52
#include "../../check.h"
int main(void) {
  int v[4] = {0};
#pragma omp parallel num_threads(4)
  for (int round = 1; round < 20; round++) {
#pragma omp scope
    v[omp_get_thread_num()] = round;
    for (int i = 0; i < 4; i++) CHECK(v[i] == round);
#pragma omp barrier
  }
  return DONE();
}
