// OpenMP 5.2, section 15.8.5: flush with a list and with each memory order, in serial code and in a region.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int x = 1, y = 2;
#pragma omp flush
#pragma omp flush(x, y)
#pragma omp parallel num_threads(4) shared(x)
  {
#pragma omp flush(x)
#pragma omp flush acq_rel
#pragma omp flush acquire
#pragma omp flush release
#pragma omp flush seq_cst
#pragma omp atomic
    x += y;
  }
  CHECK(x == 9);
  return DONE();
}
