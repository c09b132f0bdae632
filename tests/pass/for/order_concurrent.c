// OpenMP 5.2, section 10.3: order(concurrent), with the reproducible modifier.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int v[100] = {0};
#pragma omp parallel num_threads(3)
  {
#pragma omp for order(concurrent)
    for (int i = 0; i < 100; i++) v[i]++;
#pragma omp for order(reproducible : concurrent) schedule(static)
    for (int i = 0; i < 100; i++) v[i] *= 2;
  }
  for (int i = 0; i < 100; i++) CHECK(v[i] == 2);
  return DONE();
}
