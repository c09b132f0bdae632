// Structs that would go into registers but go to memory once the registers are used up.
#include <stdio.h>
struct l2 {
  long a, b;
};
struct d2 {
  double a, b;
};
struct ld {
  long a;
  double b;
};
__attribute__((noinline)) static long f(long a, long b, long c, long d, long e, struct l2 s, long g, struct l2 t) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * s.a + 7 * s.b + 8 * g + 9 * t.a + 10 * t.b;
}
__attribute__((noinline)) static double g(double a, double b, double c, double d, double e, double x, double y,
                                          struct d2 s, double z, struct d2 t, struct ld u, float w) {
  return a + b * 2 + c * 3 + d * 4 + e * 5 + x * 6 + y * 7 + s.a * 8 + s.b * 9 + z * 10 + t.a * 11 + t.b * 12 +
         (double)u.a * 13 + u.b * 14 + w;
}
static long (*volatile fp)(long, long, long, long, long, struct l2, long, struct l2) = f;
static double (*volatile gp)(double, double, double, double, double, double, double, struct d2, double, struct d2,
                             struct ld, float) = g;
int main(void) {
  struct l2 s = {100, 200}, t = {-3, 9};
  struct d2 d = {0.5, 0.25};
  struct ld u = {7, 1.5};
  printf("%ld %ld %g %g\n", f(1, 2, 3, 4, 5, s, 6, t), fp(6, 5, 4, 3, 2, t, 1, s),
         g(1, 2, 3, 4, 5, 6, 7, d, 8, d, u, 9.5f), gp(7, 6, 5, 4, 3, 2, 1, d, 0, d, u, 1));
  return 0;
}
