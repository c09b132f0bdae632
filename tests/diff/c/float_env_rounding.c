// no-sanitize: divides floats by zero
// flags: -frounding-math -Wno-unused-but-set-variable
// fesetround and floating exceptions seen through fetestexcept and rint, with FENV_ACCESS (constrained intrinsics).
#include <stdio.h>
#include <fenv.h>
#include <math.h>
#pragma STDC FENV_ACCESS ON
int main(void) {
  volatile double a = 1, b = 3, z = 0;
  int m[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
  for (int i = 0; i < 4; i++) {
    fesetround(m[i]);
    printf("%a %a %g %g %ld\n", a / b, -a / b, rint(2.5), nearbyint(-2.5), lrint(1.5));
  }
  fesetround(FE_TONEAREST);
  feclearexcept(FE_ALL_EXCEPT);
  volatile double r = a / z;
  printf("%d %d ", fetestexcept(FE_DIVBYZERO) != 0, fetestexcept(FE_INVALID) != 0);
  r = z / z;
  printf("%d %d\n", fetestexcept(FE_INVALID) != 0, r != r);
  return 0;
}
