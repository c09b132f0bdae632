// OpenMP 5.2, section 10.5: masked with a filter runs in the thread with that number, if it exists.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=52
#include "../../check.h"
int main(void) {
  int runs[6] = {0}, by_default = 0;
#pragma omp parallel num_threads(4)
  {
    for (int f = 0; f < 6; f++) {
#pragma omp masked filter(f)
      {
        CHECK(omp_get_thread_num() == f);
        runs[f]++;
      }
    }
#pragma omp masked
    by_default++;
  }
  for (int f = 0; f < 6; f++) CHECK(runs[f] == (f < 4));
  CHECK(by_default == 1);
  return DONE();
}
