// OpenMP 5.2, section 15.8.4: atomic capture as an exchange passes one token around.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  double cell = 1; long total = 0;
#pragma omp parallel num_threads(4) reduction(+ : total)
  for (int i = 0; i < 200; i++) {
    double got;
#pragma omp atomic capture
    { got = cell; cell = 0; }
    if (got == 1) {
      total++;
#pragma omp atomic write
      cell = 1;
    } else CHECK(got == 0);
  }
  CHECK(cell == 1 && total >= 1);
  return DONE();
}
