// OpenMP 5.2, section 18.8.11 (omp_get_mapped_ptr): the corresponding device address, or null.
// flags: -fopenmp-version=51
#include "../../check.h"
int global[4];
#pragma omp declare target(global)
int main(void) {
  int d = omp_get_default_device(), h = omp_get_initial_device(), v[10] = {0}, seen = 0;
  CHECK(omp_get_mapped_ptr(v, d) == NULL);
  CHECK(omp_get_mapped_ptr(v, h) == v);
#pragma omp target data map(tofrom : v[2 : 5])
  {
    int *at = omp_get_mapped_ptr(&v[2], d);
    CHECK(at && at != &v[2]);
    CHECK(omp_get_mapped_ptr(&v[4], d) == at + 2);
#pragma omp target is_device_ptr(at) map(tofrom : v[2 : 5], seen)
    {
      at[1] = 42;
      seen = v[3];
    }
  }
  CHECK(seen == 42 && v[3] == 42);
#pragma omp target map(from : seen)
  seen = global[0];
  CHECK(omp_get_mapped_ptr(global, d) != NULL && omp_get_mapped_ptr(global, d) != global);
  return DONE();
}
