// OpenMP 5.2, section 18.10: omp_get_wtime does not go back and advances over a sleep; omp_get_wtick is a small positive number.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <unistd.h>
int main(void) {
  double tick = omp_get_wtick(), start = omp_get_wtime(), last = start;
  CHECK(tick > 0 && tick < 0.1);
  for (int i = 0; i < 1000; i++) {
    double now = omp_get_wtime();
    CHECK(now >= last);
    last = now;
  }
  usleep(20000);
  CHECK(omp_get_wtime() - start >= 0.015);
#pragma omp parallel num_threads(2)
  CHECK(omp_get_wtime() >= start);
  return DONE();
}
