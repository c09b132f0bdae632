// a*b+c in one expression becomes llvm.fmuladd; without FMA in the target it must round twice; fma() rounds once.
#include <stdio.h>
#include <math.h>
static volatile double a[] = {1.0000000000000002, 0.1, 1e16, -3.0},
                       b[] = {1.0000000000000002, 10.0, 1.0000000000000002, 1.0 / 3};
int main(void) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      double x = a[i], y = b[j], z = -x * 1.0;
      float f = (float)x, g = (float)y;
      printf("%a %a %a %a %a\n", x * y + z, x * y - 1.0, fma(x, y, z), (double)(f * g + 0.1f),
             (double)fmaf(f, g, 0.1f));
    }
  return 0;
}
