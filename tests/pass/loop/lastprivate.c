// OpenMP 5.2, section 11.7: lastprivate of the loop variable on the loop construct.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=52
#include "../../check.h"
int main(void) {
  int i, hits[64] = {0};
#pragma omp parallel num_threads(4)
#pragma omp loop lastprivate(i)
  for (i = 0; i < 64; i++) hits[i]++;
  CHECK(i == 64);
  for (int k = 0; k < 64; k++) CHECK(hits[k] == 1);
  return DONE();
}
