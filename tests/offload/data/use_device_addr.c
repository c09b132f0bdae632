// OpenMP 5.2, sections 5.4.9 and 5.4.10: use_device_addr and has_device_addr.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int x = 3, v[6] = {0, 1, 2, 3, 4, 5}, *hx = &x, *hv = v;
#pragma omp target data map(tofrom : x, v) use_device_addr(x, v)
  {
    CHECK(&x != hx && v != hv);
#pragma omp target has_device_addr(x, v)
    {
      x++;
      v[5] = x;
    }
  }
  CHECK(x == 4 && v[5] == 4);
  return DONE();
}
