// OpenMP 5.2, section 5.8.3: a section of mapped data shares the count of the whole.
#include "../../check.h"
int main(void) {
  int v[30], d = omp_get_default_device();
  for (int i = 0; i < 30; i++) v[i] = i;
#pragma omp target enter data map(to : v)
#pragma omp target enter data map(to : v[10 : 5])
#pragma omp target exit data map(release : v)
  CHECK(omp_target_is_present(&v[29], d));
#pragma omp target map(tofrom : v[3 : 4])
  for (int i = 3; i < 7; i++) v[i] = -v[i];
  CHECK(v[4] == 4);
#pragma omp target exit data map(from : v[10 : 5])
  CHECK(!omp_target_is_present(v, d) && v[4] == 4);
  return DONE();
}
