// va_arg of structs of every class, long double, __int128 and complex.
#include <stdio.h>
#include <stdarg.h>
struct a {
  int x;
};
struct b {
  long x, y;
};
struct c {
  double x, y;
};
struct d {
  double x;
  int y;
};
struct e {
  char s[40];
};
struct f {
  float x, y, z;
};
__attribute__((noinline)) static double take(int n, ...) {
  va_list ap;
  va_start(ap, n);
  double s = 0;
  for (int i = 0; i < n; i++) {
    struct a a = va_arg(ap, struct a);
    struct b b = va_arg(ap, struct b);
    struct c c = va_arg(ap, struct c);
    struct d d = va_arg(ap, struct d);
    struct e e = va_arg(ap, struct e);
    long double l = va_arg(ap, long double);
    __int128 w = va_arg(ap, __int128);
    struct f f = va_arg(ap, struct f);
    double _Complex z = va_arg(ap, double _Complex);
    s = s * 1.5 + a.x + (double)(b.x * 2 + b.y) + c.x * 3 + c.y + d.x + d.y * 4 + e.s[0] + e.s[39] + (double)l +
        (double)(w >> 64) + f.x + f.y + f.z * 5 + __real__ z - __imag__ z;
  }
  va_end(ap);
  return s;
}
static double (*volatile fp)(int, ...) = take;
int main(void) {
  struct a a = {3};
  struct b b = {5, -6};
  struct c c = {.5, .25};
  struct d d = {1.5, 7};
  struct e e = {"k"};
  e.s[39] = 9;
  struct f f = {1, 2, 3};
  __int128 w = (__int128)12 << 64;
  double _Complex z = 2.0 + 3.0i;
  printf("%.12g\n", fp(3, a, b, c, d, e, 2.25L, w, f, z, a, b, c, d, e, 1.25L, w, f, z, a, b, c, d, e, 0.5L, w, f, z));
  return 0;
}
