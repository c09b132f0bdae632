// Vectors wider than a register: 64 bytes, arithmetic and horizontal work, dynamic index.
#include <stdio.h>
typedef int v16 __attribute__((vector_size(64)));
typedef double d8 __attribute__((vector_size(64)));
typedef unsigned char b64 __attribute__((vector_size(64)));
__attribute__((noinline)) static void fill(v16 *v, int k) {
  for (int i = 0; i < 16; i++) (*v)[i] = i * k - 20;
}
int main(void) {
  v16 a, b;
  volatile int idx = 9;
  fill(&a, 3);
  fill(&b, 5);
  v16 c = a * b + (a ^ b), m = a < 0;
  d8 d = {1, 2, 3, 4, 5, 6, 7, 8};
  d = d * d + 0.5;
  b64 e = {1, 2, 3};
  e[idx] = 77;
  e = e << 1;
  c[idx] += 1000;
  long long s = 0;
  for (int i = 0; i < 16; i++) s = s * 3 + c[i] + m[i];
  double t = 0;
  for (int i = 0; i < 8; i++) t += d[i];
  printf("%lld %d %g %d %d %d\n", s, c[idx], t, e[1], e[idx], e[63]);
  return 0;
}
