// frexp, ldexp, scalbn, modf, logb, ilogb and nextafter.
#include <stdio.h>
#include <math.h>
int main(void) {
  volatile double d[] = {0.0, 1.0, -3.75, 1e-310, 1e300, 123456.789};
  for (int i = 0; i < 6; i++) {
    int e, f;
    double ip, m = frexp(d[i], &e);
    float g = frexpf((float)d[i] / 4, &f);
    double fr = modf(d[i], &ip);
    printf("%a %d %a %d %a %a %a %a ", m, e, d[i] > 1e40 ? 0.0 : (double)g, d[i] > 1e40 ? 0 : f, fr, ip, ldexp(m, e),
           scalbn(d[i], -3));
    printf("%a %a\n", nextafter(d[i], 10.0), (double)nextafterf(1.0f, (float)i));
    if (d[i] != 0) printf("%g %d\n", logb(d[i]), ilogb(d[i]));
  }
  return 0;
}
