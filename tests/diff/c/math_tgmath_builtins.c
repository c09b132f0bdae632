// flags: -D_GNU_SOURCE -fno-math-errno
// tgmath dispatch, and math builtins that become intrinsics: fabs, sqrt, floor, trunc, fma, exp10, sincos.
#include <stdio.h>
#include <tgmath.h>
extern void sincos(double, double *, double *);
int main(void) {
  volatile float f = 2.25f;
  volatile double d = -7.75;
  volatile long double l = 3.0625L;
  printf("%zu %zu %zu %g %g %Lg %g %g\n", sizeof sqrt(f), sizeof fabs(d), sizeof floor(l), (double)sqrt(f), fabs(d),
         floor(l), trunc(d), round(d));
  double s, c;
  sincos(d, &s, &c);
  printf("%.9g %.9g %.9g %g %Lg %d\n", s, c, __builtin_exp10(f), __builtin_powi(d, 3), fma(d, f, l),
         (int)__builtin_isless(d, f));
  return 0;
}
