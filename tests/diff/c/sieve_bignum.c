// Sieve of Eratosthenes, big factorials and Fibonacci in base 10^9, modular exponentiation with __int128.
#include <stdio.h>
#include <stdint.h>
static unsigned char comp[20000];
static uint32_t d[40];
static uint64_t pm(uint64_t b, uint64_t e, uint64_t m) {
  uint64_t r = 1;
  for (; e; e >>= 1, b = (uint64_t)((unsigned __int128)b * b % m))
    if (e & 1) r = (uint64_t)((unsigned __int128)r * b % m);
  return r;
}
int main(void) {
  int n = 0, last = 0;
  for (int i = 2; i < 20000; i++)
    if (!comp[i]) {
      n++;
      last = i;
      for (int j = 2 * i; j < 20000; j += i) comp[j] = 1;
    }
  printf("%d %d\n", n, last);
  d[0] = 1;
  int l = 1;
  for (uint32_t k = 2; k <= 60; k++) {
    uint64_t c = 0;
    for (int i = 0; i < l; i++) {
      c += (uint64_t)d[i] * k;
      d[i] = (uint32_t)(c % 1000000000);
      c /= 1000000000;
    }
    if (c) d[l++] = (uint32_t)c;
  }
  printf("%u", d[--l]);
  while (l--) printf("%09u", d[l]);
  puts("");
  printf("%llu %llu\n", (unsigned long long)pm(3, 1000000006, 1000000007),
         (unsigned long long)pm(7, 0x123456789abcdef, 0xfffffffffffffc5));
  return 0;
}
