// exit: 4
// Vectors as arguments and results of direct and indirect calls, in structs and unions.
#include <stdio.h>
typedef float f4 __attribute__((vector_size(16)));
typedef int i4 __attribute__((vector_size(16)));
typedef float f2 __attribute__((vector_size(8)));
struct s {
  f4 v;
  int n;
};
union u {
  f4 f;
  i4 i;
  unsigned char b[16];
};
__attribute__((noinline)) static f4 mix(f4 a, f4 b, f4 c, f4 d, f4 e, f4 f, f4 g, f4 h, f4 i, i4 k) {
  return a + b * c - d + e + f + g + h + i + (f4)k;
}
__attribute__((noinline)) static struct s step(struct s s, f2 k) {
  s.v *= k[0];
  s.v[3] += k[1];
  s.n++;
  return s;
}
static struct s (*volatile fp)(struct s, f2) = step;
int main(void) {
  volatile float x = 1.25f;
  f4 a = {x, 2, 3, 4};
  struct s s = {a, 0};
  f2 k = {2, x};
  for (int i = 0; i < 4; i++) s = fp(s, k);
  union u u = {mix(a, s.v, a, a, a, a, a, a, s.v, (i4){0x3f800000, 0, 0x40000000, 0})};
  printf("%g %g %g %g %d\n%g %g %g %g\n", s.v[0], s.v[1], s.v[2], s.v[3], s.n, u.f[0], u.f[1], u.f[2], u.f[3]);
  for (int i = 0; i < 16; i++) printf("%02x", u.b[i]);
  printf(" %x\n", u.i[2]);
  return s.n;
}
