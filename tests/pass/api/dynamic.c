// OpenMP 5.2, section 18.2.6: dyn-var can be set and read, and regions inherit it.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  CHECK(!omp_get_dynamic());
  omp_set_dynamic(1);
  CHECK(omp_get_dynamic());
#pragma omp parallel num_threads(2)
  CHECK(omp_get_dynamic());
  int size = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  size = omp_get_num_threads();
  CHECK(size >= 1 && size <= 3);
  omp_set_dynamic(0);
  CHECK(!omp_get_dynamic());
  return DONE();
}
