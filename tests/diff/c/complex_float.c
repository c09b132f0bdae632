// _Complex double and float: arithmetic, division, conversion, comparison, parts.
#include <stdio.h>
#include <complex.h>
__attribute__((noinline)) static double complex mul(double complex a, float complex b) { return a * b; }
int main(void) {
  volatile double r = 1.5;
  double complex a = r + 2.0 * I, b = -0.5 + r * I;
  float complex f = (float complex)a, g = 3.0f - 1.0f * I;
  double complex v[] = {a + b, a - b, a * b, a / b, -a, ~a, a + 2, 3 / b, mul(a, g)};
  for (int i = 0; i < 9; i++) printf("%.12g %.12g\n", creal(v[i]), cimag(v[i]));
  f = f * g - f / g;
  printf("%.6g %.6g %d %d %g\n", crealf(f), cimagf(f), a == b, a != b, cabs(3 + 4 * I));
  __real__ a = 9;
  __imag__ a += 1;
  printf("%g %g %zu\n", creal(a), cimag(a), sizeof(long double complex));
  return 0;
}
