// OpenMP 5.2, section 18.8.3: presence, to the byte, on each device.
// options: --device=emulated:2
#include "../../check.h"
int main(void) {
  char v[64];
  int h = omp_get_initial_device();
  CHECK(!omp_target_is_present(v, 0) && !omp_target_is_present(NULL, 0));
  CHECK(omp_target_is_present(v, h));
#pragma omp target data map(to : v[8 : 16]) device(0)
  {
    CHECK(omp_target_is_present(&v[8], 0) && omp_target_is_present(&v[23], 0));
    CHECK(!omp_target_is_present(&v[7], 0) && !omp_target_is_present(&v[24], 0));
    CHECK(!omp_target_is_present(&v[8], 1));
#pragma omp target enter data map(alloc : v[8 : 4]) device(1)
    CHECK(omp_target_is_present(&v[8], 1) && !omp_target_is_present(&v[12], 1));
#pragma omp target exit data map(release : v[8 : 4]) device(1)
    CHECK(!omp_target_is_present(&v[8], 1));
  }
  CHECK(!omp_target_is_present(&v[8], 0));
  return DONE();
}
