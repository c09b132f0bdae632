// OpenMP 5.2, section 3.4: if and device of data constructs: a false condition has no effect; each device has its own copy.
// options: --device=emulated:2
#include "../../check.h"
int main(void) {
  int v[4] = {1, 2, 3, 4};
  for (int yes = 0; yes < 2; yes++) {
#pragma omp target data map(to : v) if (yes) device(1)
    CHECK(omp_target_is_present(v, 1) == yes && !omp_target_is_present(v, 0));
#pragma omp target enter data map(to : v) if (yes) device(0)
    CHECK(omp_target_is_present(v, 0) == yes);
#pragma omp target update to(v) if (yes) device(0)
#pragma omp target exit data map(delete : v) if (yes) device(0)
    CHECK(!omp_target_is_present(v, 0));
  }
  int where = -1;
#pragma omp target map(from : where) if (target : 0)
  where = omp_is_initial_device();
  CHECK(where == 1);
#pragma omp target map(from : where) device(omp_get_initial_device())
  where = omp_is_initial_device();
  CHECK(where == 1);
#pragma omp target enter data map(to : v) device(0)
#pragma omp target enter data map(to : v) device(1)
  for (int d = 0; d < 2; d++) {
#pragma omp target device(d)
    for (int i = 0; i < 4; i++) v[i] += 10 * (d + 1);
  }
#pragma omp target exit data map(from : v) device(1)
  CHECK(v[0] == 21);
#pragma omp target exit data map(from : v) device(0)
  CHECK(v[0] == 11);
  return DONE();
}
