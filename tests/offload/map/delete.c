// OpenMP 5.2, section 5.8.3: map(delete) ends a mapping regardless of its count.
#include "../../check.h"
int main(void) {
  int v[3] = {1, 2, 3}, d = omp_get_default_device();
#pragma omp target enter data map(to : v)
#pragma omp target enter data map(to : v)
#pragma omp target enter data map(to : v)
#pragma omp target
  v[0] = 9;
#pragma omp target exit data map(delete : v)
  CHECK(v[0] == 1 && !omp_target_is_present(v, d));
#pragma omp target exit data map(from : v)
  CHECK(v[0] == 1);
  return DONE();
}
