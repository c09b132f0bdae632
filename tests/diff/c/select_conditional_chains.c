// exit: 31
// Conditional operators of every type: ints, pointers, structs, doubles, function pointers, void.
#include <stdio.h>
struct s {
  int a;
  double d;
};
static int t(void) { return 1; }
static int u(void) { return 2; }
static int n;
static void x(void) { n += 10; }
static void y(void) { n++; }
int main(void) {
  for (volatile int i = 0; i < 4; i++) {
    const char *p = i == 0 ? "zero" : i == 1 ? "one" : "many";
    double d = i & 1 ? 1.5 : i;
    struct s a = {i, .5}, b = {-i, 2};
    struct s c = i > 1 ? a : b;
    int (*f)(void) = i % 2 ? t : u;
    i ? x() : y();
    long l = i ? -1 : 4000000000u;
    int q = i < 2 ? i ? 5 : 6 : 7;
    float fl = i == 3 ? 1 : 0.25f;
    printf("%s %g %d %g %d %ld %d %g\n", p, d, c.a, c.d, (i ? f : t)(), l, q, (double)fl);
  }
  return n;
}
