// fneg, fabs, copysign and signbit, including on NaN and zero.
#include <stdio.h>
#include <math.h>
#include <string.h>
static volatile double d[] = {0.0, -0.0, 2.5, -2.5, INFINITY, -INFINITY, NAN};
int main(void) {
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 7; j++) {
      double a = d[i], b = d[j], c = copysign(a, b), n = -a, f = fabs(a);
      unsigned long long x, y, z;
      memcpy(&x, &c, 8);
      memcpy(&y, &n, 8);
      memcpy(&z, &f, 8);
      float g = copysignf((float)b, (float)a), h = -g;
      unsigned w, q;
      memcpy(&w, &g, 4);
      memcpy(&q, &h, 4);
      printf("%llx %llx %llx %x %x %d %d %d\n", x, y, z, w, q, !!signbit(c), !!signbit(copysignl(2.0L, b)),
             fabsl(-3.5L - i) == 3.5L + i);
    }
  return 0;
}
