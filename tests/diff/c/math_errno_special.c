// no-sanitize: divides floats by zero
// Special values of the math library: domain errors, poles, infinities, signed zeros, errno.
#include <stdio.h>
#include <math.h>
#include <errno.h>
int main(void) {
  volatile double z = 0, m = -1, inf = INFINITY, n = NAN;
  errno = 0;
  double a = sqrt(m);
  int e1 = errno == EDOM;
  errno = 0;
  double b = log(z);
  int e2 = errno == ERANGE;
  printf("%d %d %d %d %d %d\n", isnan(a), e1, isinf(b), e2, isnan(log(m)), isnan(fmod(1, z)));
  printf("%g %g %g %g %g %g %g %g %d\n", pow(z, z), pow(inf, m), pow(m, inf), atan2(z, m), atan(inf), exp(-inf),
         hypot(inf, n), 1 / copysign(z, m), signbit(sqrt(-z)) != 0);
  int q;
  printf("%g %d %g\n", remquo(7, 2, &q), q, cbrt(-27));
  return 0;
}
