// The initial device is no failure of offloading: a region that asks for it runs there, even if offloading is mandatory
// and there is no other device.
// env: OMP_TARGET_OFFLOAD=mandatory
// options: --device=host
#include "../../check.h"
int main(void) {
  int x = 0;
#pragma omp target device(omp_get_initial_device()) map(tofrom : x)
  x = 1 + omp_is_initial_device();
  CHECK(x == 2);
  return DONE();
}
