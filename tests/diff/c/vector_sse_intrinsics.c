// SSE and SSE2 intrinsics from clang's headers that lower to generic vector IR.
#include <stdio.h>
#include <emmintrin.h>
int main(void) {
  volatile float x = 2.5f;
  volatile int n = 9;
  __m128 a = _mm_set_ps(4, 3, 2, x), b = _mm_set1_ps(1.5f), c = _mm_add_ps(_mm_mul_ps(a, b), _mm_sub_ps(a, b));
  float o[4];
  _mm_storeu_ps(o, c);
  __m128i i = _mm_set_epi32(4, 3, 2, n), j = _mm_add_epi32(i, _mm_set1_epi32(100)), k = _mm_unpacklo_epi32(i, j),
          l = _mm_shuffle_epi32(j, _MM_SHUFFLE(0, 1, 2, 3));
  int p[4], q[4];
  _mm_storeu_si128((__m128i *)p, k);
  _mm_storeu_si128((__m128i *)q, _mm_xor_si128(l, _mm_cmpeq_epi32(l, _mm_set1_epi32(102))));
  __m128d d = _mm_div_pd(_mm_set_pd(1, 3), _mm_set1_pd(7));
  double e[2];
  _mm_storeu_pd(e, d);
  printf("%g %g %g %g | %d %d %d %d | %d %d %d %d | %a %a | %d %g\n", o[0], o[1], o[2], o[3], p[0], p[1], p[2], p[3],
         q[0], q[1], q[2], q[3], e[0], e[1], _mm_cvtsi128_si32(j), (double)_mm_cvtss_f32(c));
  return 0;
}
