// OpenMP 5.2, section 11.1: a single block runs once per encounter, and its writes are seen after its barrier.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int count = 0;
#pragma omp parallel num_threads(4)
  for (int round = 1; round <= 100; round++) {
#pragma omp single
    count++;
    CHECK(count == round);
#pragma omp barrier
  }
  CHECK(count == 100);
  return DONE();
}
