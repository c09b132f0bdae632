// exit: 6
// Direct variadic calls to libc with many arguments of all kinds: printf, snprintf, sscanf, fprintf.
#include <stdio.h>
int main(void) {
  char b[200];
  volatile int i = -5;
  volatile double d = 2.5;
  int n = snprintf(b, sizeof b, "%d %d %d %d %d %d %d %d|%g %g %g %g %g %g %g %g %g %g|%s", i, 1, 2, 3, 4, 5, 6, 7, d,
                   1., 2., 3., 4., 5., 6., 7., 8., 9., "end");
  printf("%d %s\n", n, b);
  int a1, a2;
  long l;
  short s;
  char c, w[8];
  unsigned x;
  float f;
  double g;
  long double ld;
  n = sscanf("10 -20 3000000000 7 z hello ff 1.5 2.5 3.5", "%d %d %ld %hd %c %7s %x %f %lf %Lf", &a1, &a2, &l, &s, &c,
             w, &x, &f, &g, &ld);
  fprintf(stdout, "%d %d %d %ld %hd %c %s %x %g %g %Lg\n", n, a1, a2, l, s, c, w, x, f, g, ld);
  printf("%*d|%-*s|%.*f|%n", 8, i, 6, "ab", 3, d, &n);
  printf("%d\n", n);
  return n & 15;
}
