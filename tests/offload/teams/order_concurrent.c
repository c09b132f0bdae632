// OpenMP 5.2, section 10.3: order(concurrent), also reproducible and unconstrained.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int v[300];
#pragma omp target teams distribute parallel for simd order(concurrent) simdlen(8) map(from : v)
  for (int i = 0; i < 300; i++) v[i] = i;
#pragma omp target teams distribute parallel for order(reproducible : concurrent) map(tofrom : v)
  for (int i = 0; i < 300; i++) v[i] *= 2;
#pragma omp target parallel for order(unconstrained : concurrent) map(tofrom : v)
  for (int i = 0; i < 300; i++) v[i] += 1;
  for (int i = 0; i < 300; i++) CHECK(v[i] == 2 * i + 1);
  return DONE();
}
