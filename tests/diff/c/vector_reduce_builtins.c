// __builtin_reduce_* and __builtin_elementwise_* on integer and float vectors.
#include <stdio.h>
typedef int v8 __attribute__((ext_vector_type(8)));
typedef unsigned u4 __attribute__((ext_vector_type(4)));
typedef float f4 __attribute__((ext_vector_type(4)));
int main(void) {
  volatile int k = -3;
  v8 a = {1, k, 5, -70, 9, 100, 13, 8};
  u4 u = {0xf0f0, 0xff00, (unsigned)k, 0x8000ffff};
  f4 f = {1.5f, (float)k, 8.25f, -0.5f};
  printf("%d %d %d %d %d ", __builtin_reduce_add(a), __builtin_reduce_mul((a & 3) | 1), __builtin_reduce_min(a),
         __builtin_reduce_max(a), __builtin_reduce_xor(a));
  printf("%x %x %x %u %u ", __builtin_reduce_and(u), __builtin_reduce_or(u), __builtin_reduce_xor(u),
         __builtin_reduce_min(u), __builtin_reduce_max(u));
  printf("%g %g\n", __builtin_reduce_min(f), __builtin_reduce_max(f));
  v8 b = __builtin_elementwise_abs(a), c = __builtin_elementwise_min(a, b - 20),
     d = __builtin_elementwise_add_sat(a, (v8)0x7ffffff0), e = __builtin_elementwise_popcount(b);
  for (int i = 0; i < 8; i++) printf("%d %d %d %d ", b[i], c[i], d[i], e[i]);
  f4 g = __builtin_elementwise_floor(f), h = __builtin_elementwise_sqrt(__builtin_elementwise_abs(f)),
     m = __builtin_elementwise_fma(f, f, g), q = __builtin_elementwise_copysign(h, f);
  for (int i = 0; i < 4; i++) printf("%g %a %g %a ", g[i], h[i], m[i], q[i]);
  puts("");
  return 0;
}
