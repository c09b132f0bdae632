// OpenMP 5.2, section 11.1: single nowait many times over: each block runs once though threads run ahead.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int counts[200] = {0};
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 200; i++) {
#pragma omp single nowait
    counts[i]++;
  }
  for (int i = 0; i < 200; i++) CHECK(counts[i] == 1);
  return DONE();
}
