// OpenMP 5.2, section 13.2: the device clause and the default device choose among two devices and the host.
// options: --device=emulated:2
#include "../../check.h"
int main(void) {
  CHECK(omp_get_num_devices() == 2 && omp_get_initial_device() == 2);
  for (int d = 0; d < 3; d++) {
    int number = -5, host = -1;
#pragma omp target device(d) map(from : host, number)
    host = omp_is_initial_device(), number = omp_get_device_num();
    CHECK(host == (d == 2));
    omp_set_default_device(d);
    CHECK(omp_get_default_device() == d);
#pragma omp target map(from : host)
    host = omp_is_initial_device();
    CHECK(host == (d == 2));
  }
  return DONE();
}
