// Functions for uncommon processor features: executed if the processor has them, compiled in any case.
#include <cpuid.h>
#include <x86intrin.h>
#include <stdio.h>
#include <string.h>

static int bit(unsigned leaf, unsigned sub, int reg, int n) {
  unsigned r[4];
  if (!__get_cpuid_count(leaf, sub, &r[0], &r[1], &r[2], &r[3])) return 0;
  return r[reg] >> n & 1;
}
static int wide(void) { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"); }

// AVX-512 BF16: a product of pairs, a conversion, a chain of both.
__attribute__((target("avx512bf16,avx512vl,avx512bw"), noinline)) static float dot(const unsigned short *x, int n) {
  __m512 a = _mm512_setzero_ps();
  for (int i = 0; i + 32 <= n; i += 32) {
    __m512bh v = (__m512bh)_mm512_loadu_si512(x + i);
    a = _mm512_dpbf16_ps(a, v, v);
  }
  return _mm512_reduce_add_ps(a);
}
__attribute__((target("avx512bf16,avx512vl"), noinline)) static int convert(const float *x, unsigned short *out) {
  __m128bh v = _mm_cvtneps_pbh(_mm_loadu_ps(x));
  memcpy(out, &v, 16);
  return out[0];
}
__attribute__((target("avx512bf16,avx512vl"), noinline)) static float masked(const float *x, unsigned char m) {
  __m256 v = _mm256_loadu_ps(x);
  __m256bh b = _mm512_maskz_cvtneps_pbh(m, _mm512_castps256_ps512(v));
  return _mm512_cvtss_f32(_mm512_cvtpbh_ps(b));
}

// AVX-512 FP16.
__attribute__((target("avx512fp16,avx512vl"), noinline)) static float half(const void *p) {
  __m512h v = _mm512_loadu_ph(p);
  return _mm512_reduce_add_ph(_mm512_fmadd_ph(v, v, v));
}
__attribute__((target("avx512fp16"), noinline)) static _Float16 scalar_half(_Float16 a, _Float16 b) { return a * b + a; }

// AVX-NE-CONVERT, AVX-IFMA, AVX-VNNI: forms without masks.
__attribute__((target("avxneconvert"), noinline)) static float even(const void *p) {
  return _mm256_cvtss_f32(_mm256_cvtneebf16_ps(p));
}
__attribute__((target("avxifma"), noinline)) static long long multiply52(long long a, long long b) {
  return _mm256_extract_epi64(_mm256_madd52lo_avx_epu64(_mm256_setzero_si256(), _mm256_set1_epi64x(a), _mm256_set1_epi64x(b)), 0);
}
__attribute__((target("avxvnni"), noinline)) static int bytes(int a, int b) {
  return _mm256_extract_epi32(_mm256_dpbusd_avx_epi32(_mm256_setzero_si256(), _mm256_set1_epi32(a), _mm256_set1_epi32(b)), 0);
}

// Tiles; never executed here, since the system must enable them first.
__attribute__((target("amx-int8,amx-tile"), noinline)) static void tiles(int *c, const char *a) {
  static char shape[64] __attribute__((aligned(64)));
  shape[0] = 1;
  _tile_loadconfig(shape);
  _tile_loadd(1, a, 64), _tile_loadd(2, a, 64);
  _tile_dpbssd(0, 1, 2);
  _tile_stored(0, c, 64);
  _tile_release();
}
__attribute__((target("amx-bf16,amx-tile"), noinline)) static void managed_tiles(float *c, const char *a) {
  __tile1024i x = {16, 64}, sum = {16, 64};
  __tile_loadd(&x, a, 64);
  __tile_zero(&sum);
  __tile_dpbf16ps(&sum, x, x);
  __tile_stored(c, 64, sum);
}
// Features of no current processor, or only of another vendor's.
__attribute__((target("xop"), noinline)) static long long rotated(long long a) {
  return _mm_cvtsi128_si64(_mm_rot_epi64(_mm_cvtsi64_si128(a), _mm_cvtsi64_si128(3)));
}
__attribute__((target("avx10.2"), noinline)) static float newest(const float *x) {
  return _mm_cvtss_f32(_mm_minmax_ps(_mm_loadu_ps(x), _mm_setzero_ps(), 1));
}
__attribute__((target("sha512"), noinline)) static long long sha(long long a) {
  return _mm256_extract_epi64(_mm256_sha512msg1_epi64(_mm256_set1_epi64x(a), _mm_set1_epi64x(a)), 0);
}

// A function without such features.
__attribute__((noinline)) static double plain(double x, int n) {
  for (int i = 0; i < n; i++) x = x * 0.5 + i;
  return x;
}

int main(int argc, char **argv) {
  static unsigned short x[128], out[8];
  static float f[16] = {1.5f, -2.25f, 3.0f, 1e-3f, 5, 6, 7, 8};
  static char memory[4096] __attribute__((aligned(64)));
  int never = argc > 100;
  for (int i = 0; i < 128; i++) x[i] = 0x3f80;
  int bf16 = wide() && bit(7, 1, 0, 5), fp16 = wide() && bit(7, 0, 3, 23);
  printf("%g\n", bf16 ? dot(x, 128) : 128.0f);
  printf("%x\n", bf16 ? convert(f, out) : 0x3fc0);
  printf("%g\n", bf16 ? masked(f, 3) : 1.5f);
  printf("%g\n", fp16 ? half(memory) : 0.0f);
  printf("%g\n", fp16 ? (float)scalar_half((_Float16)1.5f, (_Float16)2.0f) : 4.5f);
  printf("%g\n", bit(7, 1, 3, 5) ? even(x) : 1.0f);
  printf("%lld\n", bit(7, 1, 0, 23) ? multiply52(1234567, 7654321) : 9449772114007LL);
  printf("%d\n", bit(7, 1, 0, 4) ? bytes(0x01020304, 0x01010101) : 10);
  if (never) {
    tiles((int *)memory, memory);
    managed_tiles((float *)memory, memory);
    printf("%lld %g %lld\n", rotated(argc), newest(f), sha(argc));
  }
  printf("%.10g\n", plain(argc, 1000));
  return 0;
}
