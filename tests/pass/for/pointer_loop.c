// OpenMP 5.2, section 4.4.1: the loop variable may be a pointer.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  double v[100] = {0};
#pragma omp parallel num_threads(3)
  {
#pragma omp for schedule(dynamic, 4)
    for (double *p = v; p < v + 100; p++) *p += p - v;
#pragma omp for
    for (double *p = v + 99; p >= v; p -= 3) *p += 1000;
  }
  for (int i = 0; i < 100; i++) CHECK(v[i] == i + (i % 3 == 0 ? 1000 : 0));
  return DONE();
}
