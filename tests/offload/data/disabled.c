// OpenMP 5.2, section 21.2.8: OMP_TARGET_OFFLOAD=disabled runs everything on the host.
// env: OMP_TARGET_OFFLOAD=DISABLED
#include "../../check.h"
int main(void) {
  int host = 0, v[3] = {1, 2, 3};
#pragma omp target data map(tofrom : v)
  {
#pragma omp target map(tofrom : v) map(from : host)
    v[0] = 9, host = omp_is_initial_device();
    CHECK(v[0] == 9);
  }
  CHECK(host);
  return DONE();
}
