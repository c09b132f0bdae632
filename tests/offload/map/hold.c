// The ompx_hold modifier, an extension of clang: the mapping lives as long as its construct, even if it is deleted meanwhile.
#include "../../check.h"
int main(void) {
  int d = omp_get_default_device(), v[10];
  for (int i = 0; i < 10; i++) v[i] = i;
#pragma omp target data map(ompx_hold, tofrom : v)
  {
#pragma omp target
    v[3] = 33;
#pragma omp target exit data map(delete : v)
    CHECK(omp_target_is_present(v, d));
#pragma omp target map(tofrom : v)
    v[4] = v[3] + 1;
    CHECK(v[4] == 4);
  }
  CHECK(!omp_target_is_present(v, d));
  CHECK(v[3] == 33 && v[4] == 34);
  return DONE();
}
