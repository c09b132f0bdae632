// OpenMP 5.2, section 10.1: regions after serial pauses: parked workers wake up.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <unistd.h>
int main(void) {
  int total = 0;
  for (int i = 0; i < 4; i++) {
#pragma omp parallel num_threads(4) reduction(+ : total)
    total++;
    usleep(250000);
  }
  CHECK(total == 16);
  return DONE();
}
