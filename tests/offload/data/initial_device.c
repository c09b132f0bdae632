// OpenMP 5.2, sections 13.2 and 21.2.11: a device clause for the host gets the host, no matter what OMP_TARGET_OFFLOAD says.
// env: OMP_TARGET_OFFLOAD=mandatory
#include "../../check.h"
int main(void) {
  int host = omp_get_initial_device(), where = -1, x = 1, y = 2, a[4] = {1, 2, 3, 4};
  CHECK(host == omp_get_num_devices());
#pragma omp target map(from : where) device(host)
  where = omp_is_initial_device();
  CHECK(where == 1);
#pragma omp target teams distribute parallel for map(tofrom : a) device(host)
  for (int i = 0; i < 4; i++) a[i] *= 2;
  CHECK(a[3] == 8);
#pragma omp target enter data map(to : x) device(host)
#pragma omp target update to(x) device(host)
  x = 5;
#pragma omp target exit data map(from : x) device(host)
  CHECK(x == 5);
#pragma omp target data map(tofrom : y) use_device_addr(y) device(host)
  y = 6;
  CHECK(y == 6);
#pragma omp target nowait depend(inout : x) map(tofrom : x) device(host)
  x++;
#pragma omp taskwait
  CHECK(x == 6);
  omp_set_default_device(host);
#pragma omp target map(from : where)
  where = omp_is_initial_device();
  CHECK(where == 1);
  omp_set_default_device(0);
#pragma omp target map(from : where)
  where = omp_is_initial_device();
  CHECK(where == 0);
  return DONE();
}
