// __builtin_shufflevector and __builtin_convertvector.
#include <stdio.h>
typedef int v4 __attribute__((vector_size(16)));
typedef int v8 __attribute__((vector_size(32)));
typedef float f4 __attribute__((vector_size(16)));
typedef short s4 __attribute__((vector_size(8)));
typedef double d4 __attribute__((vector_size(32)));
typedef unsigned char c4 __attribute__((vector_size(4)));
int main(void) {
  volatile int k = 10;
  v4 a = {k, 11, -12, 13}, b = {20, 21, 22, k};
  v4 s = __builtin_shufflevector(a, b, 0, 4, 1, 5), t = __builtin_shufflevector(a, a, 3, 2, 1, 0),
     u = __builtin_shufflevector(a, b, 7, 7, -1, 2);
  v8 w = __builtin_shufflevector(a, b, 7, 6, 5, 4, 3, 2, 1, 0);
  printf("%d %d %d %d | %d %d %d %d | %d %d %d\n", s[0], s[1], s[2], s[3], t[0], t[1], t[2], t[3], u[0], u[1], u[3]);
  for (int i = 0; i < 8; i++) printf("%d ", w[i]);
  f4 f = __builtin_convertvector(a, f4);
  f = f / 4;
  v4 g = __builtin_convertvector(f, v4);
  s4 h = __builtin_convertvector(a * 10000, s4);
  d4 d = __builtin_convertvector(h, d4);
  c4 c = __builtin_convertvector(b, c4);
  printf("| %g %d %d %d %d %d %g %d\n", f[2], g[0], g[1], g[2], h[0], h[2], d[2], c[1]);
  return 0;
}
