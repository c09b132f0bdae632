// flags: -ffast-math
// Fast-math flags on instructions, on values where every reassociation is exact.
#include <stdio.h>
#include <math.h>
int main(void) {
  volatile double a = 4, b = 8, c = 0.5;
  double s = 0;
  for (int i = 0; i < 100; i++) s += i * a;
  float f = 0;
  for (int i = 0; i < 64; i++) f += (float)i * 2;
  printf("%g %g %g %g %g %d %g\n", s, (double)f, a * b + c, a / b, sqrt(a * b * 2), a < b, fmin(a, b) + fmax(a, c));
  return 0;
}
