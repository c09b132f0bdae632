// Masks that are constants: bits of an integer, taken as a vector of booleans.
// levels: O0 O2
// env: OMP_NUM_THREADS=1
// stdout: ok
#include "../../check.h"
#include <immintrin.h>

#define ON __attribute__((target("avx512f,avx512bw,avx512vl"), noinline))

static int wide[16], words[8];
static long pairs[8];
static signed char bytes[64];

ON static void fill(int i) {
  __m512i n = _mm512_set1_epi32(i), more = _mm512_set1_epi32(i + 1), zero = _mm512_setzero_si512();
  _mm512_storeu_si512(wide, (__m512i)__builtin_ia32_selectd_512(0xfefe, (__v16si)more, (__v16si)n));
  _mm512_storeu_si512(pairs, (__m512i)__builtin_ia32_selectq_512(0xbe, (__v8di)_mm512_set1_epi64(i), (__v8di)zero));
  _mm256_storeu_si256((__m256i *)words, (__m256i)__builtin_ia32_selectd_256(0x35, (__v8si)_mm256_set1_epi32(-i),
                                                                            (__v8si)_mm256_set1_epi32(i)));
  _mm512_storeu_si512(bytes, (__m512i)__builtin_ia32_selectb_512(0x8000000180000001, (__v64qi)_mm512_set1_epi8(i),
                                                                 (__v64qi)zero));
}

int main(void) {
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl"))
    return DONE();
  for (int n = 1; n < 4; n++) {
    fill(n);
    for (int i = 0; i < 16; i++)
      CHECK(wide[i] == n + (0xfefe >> i & 1));
    for (int i = 0; i < 8; i++) {
      CHECK(pairs[i] == (0xbe >> i & 1 ? n : 0));
      CHECK(words[i] == (0x35 >> i & 1 ? -n : n));
    }
    for (int i = 0; i < 64; i++)
      CHECK(bytes[i] == (0x8000000180000001 >> i & 1 ? n : 0));
  }
  return DONE();
}
