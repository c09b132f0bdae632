// OpenMP 5.2, section 5.4.9 (has_device_addr): the variable has a device address already; arrays and sections of them.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int v[10], x = 4;
  for (int i = 0; i < 10; i++) v[i] = i;
#pragma omp target data map(tofrom : v, x) use_device_addr(v, x)
  {
#pragma omp target has_device_addr(v, x)
    for (int i = 0; i < 10; i++) v[i] += x;
#pragma omp target teams distribute parallel for has_device_addr(v)
    for (int i = 0; i < 10; i++) v[i] *= 2;
  }
  for (int i = 0; i < 10; i++) CHECK(v[i] == 2 * (i + 4));
  return DONE();
}
