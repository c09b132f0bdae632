// OpenMP 5.2, section 11.1: single with and without nowait, many in turn: each block once.
#include "../../check.h"
int main(void) {
  int count[20] = {0}, late = 0;
#pragma omp target parallel num_threads(24) map(tofrom : count, late)
  for (int k = 0; k < 20; k++) {
#pragma omp single nowait
    {
#pragma omp atomic
      count[k]++;
    }
#pragma omp barrier
#pragma omp single
    late += count[k] == 1;
  }
  for (int k = 0; k < 20; k++) CHECK(count[k] == 1);
  CHECK(late == 20);
  return DONE();
}
