// The same constructs as clang emits them through OpenMPIRBuilder: parallel with if, critical, single, masked, barrier.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-enable-irbuilder
#include "../../check.h"
int main(int argc, char **argv) {
  (void)argv;
  int count = 0, once = 0, first = 0;
  for (int i = 0; i < 4; i++) {
#pragma omp parallel if (i % 2 == argc % 2) num_threads(3)
    {
#pragma omp critical
      count += 1;
#pragma omp barrier
#pragma omp master
      first += 1;
    }
  }
#pragma omp parallel num_threads(2)
  {
#pragma omp single
    once += 1;
#pragma omp critical(named)
    count += 100;
  }
  CHECK(count == 3 + 1 + 3 + 1 + 200 && first == 4 && once == 1);
  return DONE();
}
