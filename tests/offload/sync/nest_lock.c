// OpenMP 5.2, section 18.9: nestable locks, and tests of locks, on the device.
// not-on: processors
#include "../../check.h"
int main(void) {
  int sum = 0, depth = 0, tests = 0;
#pragma omp target map(tofrom : sum, depth, tests)
  {
    omp_nest_lock_t n;
    omp_lock_t l;
    omp_init_nest_lock(&n);
    omp_init_lock(&l);
#pragma omp parallel num_threads(12)
    {
      omp_set_nest_lock(&n);
      omp_set_nest_lock(&n);
      int d = omp_test_nest_lock(&n);
      if (d > depth) depth = d;
      sum++;
      omp_unset_nest_lock(&n), omp_unset_nest_lock(&n), omp_unset_nest_lock(&n);
      if (omp_test_lock(&l)) {
        tests++;
        omp_unset_lock(&l);
      }
    }
    omp_destroy_nest_lock(&n);
    omp_destroy_lock(&l);
  }
  CHECK(sum == 12 && depth == 3 && tests >= 1);
  return DONE();
}
