// OpenMP 5.2, section 13.9: a strided section to the device.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int v[16], sum = 0;
  for (int i = 0; i < 16; i++) v[i] = 1;
#pragma omp target data map(to : v)
  {
    for (int i = 0; i < 16; i++) v[i] = 100;
#pragma omp target update to(v[0 : 8 : 2])
#pragma omp target map(tofrom : sum)
    for (int i = 0; i < 16; i++) sum += v[i];
  }
  CHECK(sum == 808);
  return DONE();
}
