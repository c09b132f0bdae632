// Sums and products of a vector's lanes in any order: every tier combines the upper half of the lanes
// with the lower, until one is left, as native code does.
// levels: O0 O2
// env: OMP_NUM_THREADS=1
// stdout: ok
#include "../../check.h"
#include <immintrin.h>

#define ON __attribute__((target("avx512f"), noinline))

static float x[16];
static double y[8];

ON static void reduce(float *f, double *d) {
  __m512 a = _mm512_loadu_ps(x);
  __m512d b = _mm512_loadu_pd(y);
  f[0] = _mm512_reduce_add_ps(a);
  f[1] = _mm512_reduce_mul_ps(a);
  d[0] = _mm512_reduce_add_pd(b);
  d[1] = _mm512_reduce_mul_pd(b);
}

int main(void) {
  if (!__builtin_cpu_supports("avx512f")) return DONE();
  for (int i = 0; i < 16; i++) x[i] = 1 + 1.0f / (3 + i);
  for (int i = 0; i < 8; i++) y[i] = 1 + 1.0 / (3 + i);
  x[0] = 16777216;
  y[0] = 9007199254740992;
  float f[2], sum[16], product[16];
  double d[2], dsum[8], dproduct[8];
  reduce(f, d);
  for (int i = 0; i < 16; i++) sum[i] = product[i] = x[i];
  for (int i = 0; i < 8; i++) dsum[i] = dproduct[i] = y[i];
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; i++) sum[i] += sum[i + half];
    for (int i = 0; i < half; i++) product[i] *= product[i + half];
    for (int i = 0; i < half && half < 8; i++) dsum[i] += dsum[i + half];
    for (int i = 0; i < half && half < 8; i++) dproduct[i] *= dproduct[i + half];
  }
  CHECK(f[0] == sum[0] && f[1] == product[0]);
  CHECK(d[0] == dsum[0] && d[1] == dproduct[0]);
  return DONE();
}
