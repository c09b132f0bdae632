// exit: 3
// long double as argument, variadic argument, struct member, array element and return value.
#include <stdio.h>
#include <stdarg.h>
struct s {
  int i;
  long double l;
};
__attribute__((noinline)) static long double sum(int n, ...) {
  va_list ap;
  va_start(ap, n);
  long double t = 0;
  for (int i = 0; i < n; i++) {
    t += va_arg(ap, int);
    t += va_arg(ap, long double);
  }
  va_end(ap);
  return t;
}
__attribute__((noinline)) static struct s twice(struct s s, long double k) {
  s.l *= k;
  s.i++;
  return s;
}
static long double (*volatile fp)(int, ...) = sum;
int main(void) {
  struct s s = {1, 1.25L};
  s = twice(twice(s, 3.5L), 2.0L);
  long double a[3] = {1, 2, s.l};
  printf("%d %Lf %Lg %.20Lf\n", s.i, s.l, sum(3, 1, 0.5L, 2, 0.25L, 3, a[2]), fp(1, 7, 1.0L / 3));
  printf("%.3Lf %d %La\n", a[2], 5, a[1]);
  return s.i;
}
