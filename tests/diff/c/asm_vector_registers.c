// Inline assembly with mask, wide vector and MMX registers, if the processor has them.
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>

__attribute__((target("avx512f,avx512bw,avx512vl"), noinline)) static unsigned masks(unsigned a, unsigned b) {
  __mmask16 x = (__mmask16)a, y = (__mmask16)b, r;
  unsigned out;
  __asm__("kandw %2, %1, %0" : "=k"(r) : "k"(x), "k"(y));
  __asm__("kmovw %1, %0" : "=r"(out) : "k"(r));
  __mmask8 z;
  __asm__("vpcmpd $1, %2, %1, %0" : "=Yk"(z) : "v"(_mm256_set1_epi32((int)a)), "v"(_mm256_set1_epi32((int)b)));
  return out * 1000 + z;
}

__attribute__((target("avx512f"), noinline)) static double wide(double a) {
  __m512d x = _mm512_set1_pd(a), r;
  double out[8];
  __asm__("vaddpd %1, %1, %0\n\tvmulpd %t1, %t1, %t0" : "=&v"(r) : "v"(x));
  _mm512_storeu_pd(out, r);
  return out[0] + out[3];
}

__attribute__((target("avx2"), noinline)) static long sums(int a) {
  __m256i x = _mm256_set1_epi32(a), r;
  long out[4];
  __asm__("vpaddd %1, %1, %0" : "=x"(r) : "x"(x));
  __asm__("vpaddd %x1, %x1, %x0" : "+x"(r) : "x"(x));
  _mm256_storeu_si256((__m256i *)out, r);
  return out[0] + out[3];
}

__attribute__((noinline)) static uint64_t mmx(uint64_t a, uint64_t b) {
  uint64_t r;
  __asm__ volatile("movq %1, %%mm0\n\tpaddd %2, %%mm0\n\tmovq %%mm0, %0\n\temms" : "=m"(r) : "m"(a), "m"(b) : "mm0");
  return r;
}

__attribute__((noinline)) static float first(float a) {
  register __m128 x __asm__("xmm0") = _mm_set_ss(a);
  __asm__("addss %0, %0" : "+Yz"(x));
  return _mm_cvtss_f32(x);
}

int main(void) {
  int has = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  printf("%u %.2f\n", has ? masks(12, 10) : 8000, has ? wide(1.5) : 4.5);
  printf("%ld\n", __builtin_cpu_supports("avx2") ? sums(3) : 25769803782);
  printf("%llu %.1f\n", (unsigned long long)mmx(0x100000002, 0x300000004), first(2.5f));
}
