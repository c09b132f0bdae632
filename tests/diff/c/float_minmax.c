// fmin, fmax and the comparison-select idioms, with NaN operands.
#include <stdio.h>
#include <math.h>
static volatile double d[] = {1.0, -2.0, 3.5, INFINITY, -INFINITY, NAN, 1e-310};
int main(void) {
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 7; j++) {
      double a = d[i], b = d[j];
      float c = (float)a, e = (float)b;
      printf("%g %g %g %g %g %g %g\n", fabs(fmin(a, b)), fmax(a, b), (double)fminf(c, e), (double)fmaxf(c, e),
             a < b ? a : 7.0, a > b ? 8.0 : b, fdim(2 * i, j));
    }
  return 0;
}
