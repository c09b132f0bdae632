// SSE2 intrinsics that stay calls of llvm.x86.* in the IR: packs, sad, madd, movemask, max, rounding conversions.
#include <stdio.h>
#include <emmintrin.h>
int main(void) {
  volatile int k = 3;
  __m128i a = _mm_set_epi16(1000, -2000, 300, 40000 - 65536, 5, -6, 7, (short)k), b = _mm_set1_epi16(300);
  __m128 f = _mm_set_ps(1.5f, -2.5f, 3.49f, (float)k), g = _mm_set1_ps(2.0f);
  unsigned char o[16];
  _mm_storeu_si128((__m128i *)o, _mm_packus_epi16(a, b));
  int m[4];
  _mm_storeu_si128((__m128i *)m, _mm_madd_epi16(a, b));
  for (int i = 0; i < 16; i++) printf("%d ", o[i]);
  printf("%d %d %d %d %x ", m[0], m[1], m[2], m[3], _mm_movemask_epi8(a));
  _mm_storeu_si128((__m128i *)m, _mm_sad_epu8(a, b));
  printf("%d %d ", m[0], m[2]);
  _mm_storeu_si128((__m128i *)m, _mm_cvtps_epi32(f));
  printf("%d %d %d %d ", m[0], m[1], m[2], m[3]);
  float r[4];
  _mm_storeu_ps(r, _mm_max_ps(f, g));
  printf("%g %g %g %g %x %d\n", r[0], r[1], r[2], r[3], _mm_movemask_ps(f), _mm_cvttss_si32(f));
  return 0;
}
