// OpenMP 5.2, section 18.8.4 (omp_target_is_accessible): memory of the host is accessible to the host alone.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int d = omp_get_default_device(), h = omp_get_initial_device(), v[10];
  CHECK(omp_target_is_accessible(v, sizeof v, h));
  CHECK(!omp_target_is_accessible(v, sizeof v, d));
  CHECK(!omp_target_is_accessible(NULL, 4, d));
  return DONE();
}
