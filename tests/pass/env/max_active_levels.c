// OpenMP 5.2, section 21.1.4: OMP_MAX_ACTIVE_LEVELS=2.
// stdout: ok
// levels: O0 O2
// env: OMP_MAX_ACTIVE_LEVELS=2
#include "../../check.h"
int main(void) {
  int count = 0;
  CHECK(omp_get_max_active_levels() == 2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
#pragma omp atomic
  count++;
  CHECK(count == 4);
  return DONE();
}
