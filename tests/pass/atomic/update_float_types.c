// OpenMP 5.2, section 15.8.4: atomic update of float, double, long double and complex, under contention.
// stdout: ok
// levels: O0 O2
// flags: -latomic
#include "../../check.h"
#include <complex.h>
int main(void) {
  float f = 0; double d = 0; long double l = 0; float complex cf = 0; double complex cd = 0; _Float16 h = 0;
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 100; i++) {
#pragma omp atomic
    f += 0.5f;
#pragma omp atomic
    d -= 0.25;
#pragma omp atomic
    l += 1.5L;
#pragma omp atomic
    cf += 1 + 2 * I;
#pragma omp atomic
    cd += 0.5 - I;
#pragma omp atomic
    h += (_Float16)0.5;
  }
  CHECK(f == 200 && d == -100 && l == 600 && cf == 400 + 800 * I && cd == 200 - 400 * I && h == (_Float16)200);
  return DONE();
}
