// OpenMP 5.2, section 7.4: metadirectives choose within a region by the device.
// flags: -fopenmp-version=51
// not-on: processors
#include "../../check.h"
int main(void) {
  int v[64], n = 0;
#pragma omp target map(from : v) map(tofrom : n)
  {
#pragma omp metadirective when(device = {kind(gpu)} : parallel for num_threads(16)) default(parallel for num_threads(2))
    for (int i = 0; i < 64; i++) v[i] = omp_get_num_threads();
    n = v[0];
  }
  CHECK(n == 16);
  for (int i = 0; i < 64; i++) CHECK(v[i] == n);
  return DONE();
}
