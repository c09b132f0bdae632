// no-sanitize: lanes wrap
// vector_size integer vectors: arithmetic, shifts, bit operations and comparisons.
#include <stdio.h>
typedef int v4 __attribute__((vector_size(16)));
typedef unsigned char b16 __attribute__((vector_size(16)));
typedef short s8 __attribute__((vector_size(16)));
static volatile int in[] = {1, -2, 300, 0x7fffffff, 5, 7, -9, 11};
int main(void) {
  v4 a = {in[0], in[1], in[2], in[3] - 1000}, b = {in[4], in[5], in[6], in[7]};
  v4 r[] = {a + b, a - b, (a & 0xff) * b,          a / b,        a % b, a & b,        a | b,  a ^ b,
            ~a,    -b,    (a & 0xffff) << (b & 7), a >> (b & 7), a < b, a == (a | 1), b != 5, a >= b};
  for (int i = 0; i < 16; i++) printf("%d %d %d %d\n", r[i][0], r[i][1], r[i][2], r[i][3]);
  b16 c;
  for (int i = 0; i < 16; i++) c[i] = (unsigned char)(in[i & 7] * (i + 1));
  b16 d = c + (b16){200, 1, 2, 3}, e = c > d, f = d >> 3;
  s8 g = (s8)c * 3 - (s8)d;
  for (int i = 0; i < 16; i++) printf("%d %d %d %d ", c[i], d[i], e[i], f[i]);
  for (int i = 0; i < 8; i++) printf("%d ", g[i]);
  puts("");
  return 0;
}
