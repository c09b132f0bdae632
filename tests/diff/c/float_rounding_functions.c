// floor, ceil, trunc, round, roundeven, rint, nearbyint, lround and llrint.
#include <stdio.h>
#include <math.h>
static volatile double d[] = {0.0,   -0.0, 0.5,     -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 4503599627370497.5,
                              1e300, -7.9, INFINITY};
int main(void) {
  for (int i = 0; i < 12; i++) {
    double x = d[i];
    float f = (float)x;
    printf("%g %g %g %g %g %g %g ", floor(x), ceil(x), trunc(x), round(x), __builtin_roundeven(x), rint(x),
           nearbyint(x));
    printf("%g %g %g %g %Lg %Lg ", floorf(f), ceilf(f), truncf(f), roundf(f), floorl(x), rintl(x));
    if (fabs(x) < 1e18) printf("%ld %lld %ld %lld", lround(x), llround(x), lrint(x), llrintf(f));
    puts("");
  }
  return 0;
}
