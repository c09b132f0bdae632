// Complex numbers and the compiler's vector types in a region.
#include <complex.h>
#include "../../check.h"
typedef float F4 __attribute__((vector_size(16)));
int main(void) {
  double complex z[10], s = 0;
  F4 v = {1, 2, 3, 4};
  for (int i = 0; i < 10; i++) z[i] = i + 2 * i * I;
#pragma omp target map(tofrom : z, s, v)
  {
    for (int i = 0; i < 10; i++) s += z[i] * I;
    v = v * 2 + v;
  }
  CHECK(creal(s) == -90 && cimag(s) == 45 && v[0] == 3 && v[3] == 12);
  return DONE();
}
