// OpenMP 5.2, section 18.2.15: omp_set_max_active_levels sets the number of nested active levels; 0 makes all regions inactive.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static int active_levels(void) {
  int deepest = 0;
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
  {
#pragma omp critical
    if (omp_get_active_level() > deepest) deepest = omp_get_active_level();
    CHECK(omp_get_level() == 3);
  }
  return deepest;
}
int main(void) {
  for (int n = 0; n <= 4; n++) {
    omp_set_max_active_levels(n);
    CHECK(omp_get_max_active_levels() == n);
    CHECK(active_levels() == (n < 3 ? n : 3));
  }
  return DONE();
}
