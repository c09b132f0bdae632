// The math library, printed to fewer digits than any rounding difference.
#include <stdio.h>
#include <math.h>
int main(void) {
  volatile double v[] = {0.1, 0.7, 1.3, 2.9, 10.5};
  for (int i = 0; i < 5; i++) {
    double x = v[i];
    printf("%.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g ", sin(x), cos(x), tan(x), atan(x), sinh(x), cosh(x), tanh(x),
           asinh(x));
    printf("%.9g %.9g %.9g %.9g %.9g %.9g %.9g ", exp(x), exp2(x), expm1(x), log(x), log2(x), log10(x), log1p(x));
    printf("%.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", cbrt(x), hypot(x, 2), atan2(x, -1), pow(x, 1.7), erf(x), tgamma(x),
           lgamma(x));
    printf("%.5g %.5g %.5g %.5g %.5g %.9Lg %.9Lg\n", (double)sinf((float)x), (double)expf((float)x),
           (double)logf((float)x), (double)powf((float)x, 2.5f), (double)sqrtf((float)x), sinl(x), expl(x));
  }
  printf("%.9g %.9g\n", asin(v[0]), acos(v[1]));
  return 0;
}
