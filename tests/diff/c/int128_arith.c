// __int128 addition, subtraction, multiplication and comparison.
#include <stdio.h>
#include <stdint.h>
typedef unsigned __int128 u128;
typedef __int128 i128;
static void p(u128 x) { printf("%016llx%016llx ", (unsigned long long)(x >> 64), (unsigned long long)x); }
static volatile uint64_t hi[] = {0, 1, 0x8000000000000000, ~0ull, 0x123456789abcdef};
static volatile uint64_t lo[] = {0, ~0ull, 5, 0xfedcba9876543210, 1};
int main(void) {
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 5; j++) {
      u128 a = (u128)hi[i] << 64 | lo[j], b = (u128)hi[j] << 64 | lo[i];
      p(a + b);
      p(a - b);
      p(a * b);
      printf("%d%d%d%d\n", a < b, (i128)a < (i128)b, a == b, (i128)a >= (i128)b);
    }
  return 0;
}
