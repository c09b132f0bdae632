// OpenMP 5.2, section 15.2: critical excludes all threads of the contention group, over all inner teams.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  long count = 0; int inside = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3)
#pragma omp parallel num_threads(2)
  for (int i = 0; i < 200; i++) {
#pragma omp critical
    {
      CHECK(inside == 0);
      inside = 1;
      count++;
      inside = 0;
    }
  }
  CHECK(count == 1200);
  return DONE();
}
