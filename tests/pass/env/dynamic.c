// OpenMP 5.2, section 21.1.1: OMP_DYNAMIC=true sets dyn-var; a team may then be smaller, never larger.
// stdout: ok
// levels: O0 O2
// env: OMP_DYNAMIC=true
#include "../../check.h"
int main(void) {
  int size = 0;
  CHECK(omp_get_dynamic());
#pragma omp parallel num_threads(64)
#pragma omp single
  size = omp_get_num_threads();
  CHECK(size >= 1 && size <= 64);
  return DONE();
}
