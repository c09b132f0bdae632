// OpenMP 5.2, section 5.8.3: map(release) counts down.
#include "../../check.h"
int main(void) {
  int v[3] = {1, 2, 3}, d = omp_get_default_device();
#pragma omp target enter data map(to : v)
#pragma omp target enter data map(to : v)
#pragma omp target exit data map(release : v)
  CHECK(omp_target_is_present(v, d));
#pragma omp target
  v[1] = 7;
#pragma omp target exit data map(from : v)
  CHECK(!omp_target_is_present(v, d) && v[1] == 7);
  return DONE();
}
