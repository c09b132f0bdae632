// OpenMP 5.2, section 18.7: on the host alone: the initial device, and at most as many devices as the machine has.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  CHECK(omp_is_initial_device() && omp_get_num_devices() >= 0 && omp_get_initial_device() >= -1);
#pragma omp parallel num_threads(2)
  CHECK(omp_is_initial_device());
  return DONE();
}
