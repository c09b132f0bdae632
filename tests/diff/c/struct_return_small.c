// exit: 6
// Small structs by value: every register class (INTEGER, SSE, mixed), direct and through pointers.
#include <stdio.h>
struct i1 {
  int a;
};
struct i2 {
  int a, b;
};
struct l2 {
  long a, b;
};
struct f2 {
  float a, b;
};
struct f3 {
  float a, b, c;
};
struct d2 {
  double a, b;
};
struct m {
  double d;
  int i;
};
struct c3 {
  char a, b, c;
};
struct mf {
  float f;
  int i;
};
struct s1 {
  struct {
    short x;
  } y;
};
#define DEF(T, body)                                                                                                   \
  __attribute__((noinline)) static struct T f_##T(struct T s, int k) {                                                 \
    body;                                                                                                              \
    return s;                                                                                                          \
  } static struct T (*volatile p_##T)(struct T, int) = f_##T;
DEF(i1, s.a += k)
DEF(i2, s.a += k; s.b -= k) DEF(l2, s.a *= k; s.b ^= k) DEF(f2, s.a *= k; s.b += k) DEF(f3, s.c += s.a * k)
    DEF(d2, s.a /= k; s.b -= k) DEF(m, s.d += s.i; s.i += k) DEF(c3, s.a += k; s.c = s.b) DEF(mf, s.f += s.i; s.i = k)
        DEF(s1, s.y.x = (short)(s.y.x + k)) int main(void) {
  struct i1 a = p_i1(f_i1((struct i1){1}, 2), 3);
  struct i2 b = p_i2((struct i2){5, 6}, 7);
  struct l2 c = p_l2((struct l2){1l << 40, 99}, 3);
  struct f2 d = p_f2((struct f2){1.5f, 2}, 2);
  struct f3 e = p_f3((struct f3){1, 2, 3}, 4);
  struct d2 f = p_d2((struct d2){10, 20}, 4);
  struct m g = p_m((struct m){0.5, 7}, 1);
  struct c3 h = p_c3((struct c3){'a', 'b', 'c'}, 1);
  struct mf i = p_mf((struct mf){0.25f, 3}, 9);
  struct s1 j = p_s1((struct s1){{-4}}, 2);
  printf("%d %d %d %ld %ld %g %g %g %g %g %g %g %d %c%c%c %g %d %d\n", a.a, b.a, b.b, c.a, c.b, d.a, d.b, e.a, e.c, f.a,
         f.b, g.d, g.i, h.a, h.b, h.c, i.f, i.i, j.y.x);
  return a.a;
}
