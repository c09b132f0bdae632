// OpenMP 5.2, section 18.2.9: the deprecated omp_set_nested sets max-active-levels.
// stdout: ok
// levels: O0 O2
// flags: -Wno-deprecated-declarations
#include "../../check.h"
int main(void) {
  omp_set_nested(0);
  CHECK(!omp_get_nested() && omp_get_max_active_levels() == 1);
  omp_set_nested(1);
  CHECK(omp_get_nested() && omp_get_max_active_levels() > 1);
  return DONE();
}
