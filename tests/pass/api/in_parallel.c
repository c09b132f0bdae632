// OpenMP 5.2, section 18.2.5: omp_in_parallel is true in and only in an active region, through inactive inner ones too.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  CHECK(!omp_in_parallel());
#pragma omp parallel num_threads(1)
  CHECK(!omp_in_parallel() && omp_get_level() == 1 && omp_get_active_level() == 0);
#pragma omp parallel num_threads(2)
  {
    CHECK(omp_in_parallel());
#pragma omp parallel num_threads(1)
    CHECK(omp_in_parallel() && omp_get_level() == 2 && omp_get_active_level() == 1);
  }
  CHECK(!omp_in_parallel());
  return DONE();
}
