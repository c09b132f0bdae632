// Mathematics with results in memory, and functions on integers.
// flags: -lm
#include <math.h>
#include "../../check.h"
int main(void) {
  double s = 0, f = 0, whole = 0, h = 0;
  int e = 0, i = 0;
  long r = 0;
#pragma omp target map(from : s, f, whole, h, e, i, r)
  {
    double rest = modf(3.75, &whole);
    f = frexp(40.0, &e);
    s = rest + fmod(7.5, 2.0) + cbrt(27.0) + hypot(3.0, 4.0) + ldexp(1.0, 3) + copysign(2.0, -1.0);
    h = erf(0.5) + tgamma(5.0) + atan2(1.0, 2.0) + fma(2.0, 3.0, 1.0);
    i = abs(-5) + (int)lround(2.5) + isnan(NAN) + isinf(INFINITY);
    r = labs(-7L) + llabs(-8LL);
  }
  CHECK(whole == 3 && e == 6 && f == 0.625 && fabs(s - (0.75 + 1.5 + 3 + 5 + 8 - 2)) < 1e-12);
  CHECK(fabs(h - (erf(0.5) + 24 + atan2(1.0, 2.0) + 7)) < 1e-9);
  CHECK(i >= 9 && r == 15);
  return DONE();
}
