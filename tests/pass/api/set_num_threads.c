// OpenMP 5.2, section 18.2.1: omp_set_num_threads sets the next regions' size; a num_threads clause overrides it.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  for (int n = 1; n <= 5; n++) {
    int size = 0, other = 0;
    omp_set_num_threads(n);
    CHECK(omp_get_max_threads() == n);
#pragma omp parallel
#pragma omp single
    size = omp_get_num_threads();
#pragma omp parallel num_threads(2)
#pragma omp single
    other = omp_get_num_threads();
    CHECK(size == n && other == 2 && omp_get_max_threads() == n);
  }
  return DONE();
}
