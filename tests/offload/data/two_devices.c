// OpenMP 5.2, section 1.5: each device has its own data environment.
// options: --device=emulated:2
#include "../../check.h"
int main(void) {
  int v[4] = {1, 2, 3, 4};
#pragma omp target enter data map(to : v) device(0)
  v[0] = 100;
#pragma omp target enter data map(to : v) device(1)
  CHECK(omp_target_is_present(v, 0) && omp_target_is_present(v, 1));
#pragma omp target device(0)
  v[1] = v[0];
#pragma omp target device(1)
  v[2] = v[0];
#pragma omp target exit data map(from : v) device(0)
  CHECK(v[0] == 1 && v[1] == 1 && v[2] == 3);
#pragma omp target exit data map(from : v) device(1)
  CHECK(v[0] == 100 && v[1] == 2 && v[2] == 100);
  return DONE();
}
