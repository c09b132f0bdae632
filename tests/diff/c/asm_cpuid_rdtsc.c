// cpuid through the header macro and by hand, rdtsc, pause: results discarded or only sanity-checked.
#include <stdio.h>
#include <cpuid.h>
#include <x86intrin.h>
int main(void) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  int ok = __get_cpuid(1, &a, &b, &c, &d);
  unsigned mx = __get_cpuid_max(0, 0);
  __cpuid(0, a, b, c, d);
  unsigned eax = 0, ebx, ecx = 0, edx;
  __asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
  unsigned lo, hi;
  __asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
  unsigned long long t = __rdtsc(), t0 = (unsigned long long)hi << 32 | lo;
  _mm_pause();
  _mm_mfence();
  _mm_lfence();
  _mm_sfence();
  printf("%d %d %d %d %d\n", ok, mx >= 1, eax == a && ebx == b && edx == d, t >= t0,
         __builtin_cpu_supports("sse2") != 0);
  return 0;
}
