// vector_size float and double vectors: arithmetic, comparison, selection, negation.
#include <stdio.h>
typedef float f4 __attribute__((vector_size(16)));
typedef double d2 __attribute__((vector_size(16)));
typedef double d4 __attribute__((vector_size(32)));
typedef int i4 __attribute__((vector_size(16)));
typedef long long l4 __attribute__((vector_size(32)));
int main(void) {
  volatile float s = 1.5f;
  volatile double t = 0.1;
  f4 a = {s, s * 2, -s, 0}, b = {1, 2, 3, 4};
  d4 x = {t, 2, -3, 4}, y = {t, -2, 3, t};
  f4 r[] = {a + b, a - b, a * b, a / b, -a, a * 2.0f + b};
  for (int i = 0; i < 6; i++) printf("%a %a %a %a\n", r[i][0], r[i][1], r[i][2], r[i][3]);
  i4 c = a < b;
  l4 d = x == y, e = x > y;
  printf("%d %d %d %d %lld %lld %lld %lld %lld\n", c[0], c[1], c[2], c[3], d[0], d[1], d[2], d[3], e[3]);
  d4 z = x * y - x / y;
  d2 w = {z[0], z[3]};
  printf("%a %a %a %a %a\n", z[0], z[1], z[2], z[3], (w + w)[1]);
  return 0;
}
