// OpenMP 5.2, section 5.5.11: a declared reduction of a structure.
#include "../../check.h"
typedef struct { double re, im; } Z;
#pragma omp declare reduction(add : Z : omp_out.re += omp_in.re, omp_out.im += omp_in.im) initializer(omp_priv = {0, 0})
int main(void) {
  Z z = {1, 2};
#pragma omp target teams distribute parallel for map(tofrom : z) reduction(add : z)
  for (int i = 0; i < 300; i++) z.re += i, z.im -= i;
  CHECK(z.re == 1 + 44850 && z.im == 2 - 44850);
  return DONE();
}
