// OpenMP 5.2, section 5.8.3: nested mappings of the same data are counted.
#include "../../check.h"
int main(void) {
  int v[3] = {1, 2, 3}, d = omp_get_default_device();
  CHECK(!omp_target_is_present(v, d));
#pragma omp target data map(tofrom : v)
  {
#pragma omp target enter data map(to : v)
#pragma omp target data map(tofrom : v)
    {
#pragma omp target
      v[0] = 10;
    }
    CHECK(v[0] == 1 && omp_target_is_present(v, d));
#pragma omp target exit data map(from : v)
    CHECK(v[0] == 1 && omp_target_is_present(v, d));
  }
  CHECK(v[0] == 10 && !omp_target_is_present(v, d));
  return DONE();
}
