// Comparisons and arithmetic with nsw, nuw, exact, disjoint and samesign flags in range, as -O2 infers them.
#include <stdio.h>
#include <stdint.h>
int main(void) {
  volatile unsigned lo = 3, hi = 0x50;
  volatile int pos = 9;
  unsigned long h = 0;
  for (unsigned i = 0; i < 50; i++) {
    unsigned a = (i & 15) | hi, b = (i << 4) | (lo & 15);
    int p = pos + (int)i;
    h = h * 31 + a + (unsigned long)(p * 8) / 8 + (b >> 4 << 4) + (uint64_t)((int64_t)p << 3 >> 3) + (p / 4 * 4 == p) +
        (unsigned)(&(char[9]){0}[p % 9] != 0);
  }
  printf("%lu\n", h);
  return 0;
}
