// OpenMP 5.2, sections 18.7.2 to 18.7.5: the default device is per thread; a region may not query it.
// options: --device=emulated:3
#include "../../check.h"
int main(void) {
  CHECK(omp_get_num_devices() == 3 && omp_get_default_device() == 0 && omp_get_initial_device() == 3);
  CHECK(omp_is_initial_device() && omp_get_device_num() == 3);
  for (int d = 0; d < 3; d++) {
    omp_set_default_device(d);
    int number = -1, initial = -1;
#pragma omp target map(from : number, initial)
    number = omp_get_device_num(), initial = omp_is_initial_device();
  CHECK(number == d && initial == 0);
  }
  omp_set_default_device(1);
#pragma omp parallel num_threads(2)
  {
    CHECK(omp_get_default_device() == 1);
    omp_set_default_device(omp_get_thread_num() * 2);
#pragma omp barrier
    CHECK(omp_get_default_device() == omp_get_thread_num() * 2);
  }
  return DONE();
}
