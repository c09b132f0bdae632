// OpenMP 5.2, section 2.2: a list in OMP_NUM_THREADS without OMP_MAX_ACTIVE_LEVELS makes nested regions active.
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=2,2
#include "../../check.h"
int main(void) {
  int count = 0;
  CHECK(omp_get_max_active_levels() > 1);
#pragma omp parallel
#pragma omp parallel
#pragma omp atomic
  count++;
  CHECK(count == 4);
  return DONE();
}
