// OpenMP 5.2, section 21.2.7: OMP_DEFAULT_DEVICE chooses the second of two devices.
// env: OMP_DEFAULT_DEVICE=1
// options: --device=emulated:2
#include "../../check.h"
int main(void) {
  int d = -1;
  CHECK(omp_get_default_device() == 1);
#pragma omp target map(from : d)
  d = omp_get_device_num();
  CHECK(d == 1);
  return DONE();
}
