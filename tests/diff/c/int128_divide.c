// __int128 division and remainder (calls into compiler-rt or libgcc natively).
#include <stdio.h>
#include <stdint.h>
typedef unsigned __int128 u128;
typedef __int128 i128;
static void p(u128 x) { printf("%llx:%llx ", (unsigned long long)(x >> 64), (unsigned long long)x); }
int main(void) {
  volatile uint64_t w[] = {1, 10, 0xffffffffffffffff, 0x8000000000000000, 0x123456789abcdef, 3};
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      u128 a = (u128)w[i] << 64 | w[j], b = (u128)w[j] * w[i], c = w[j];
      p(a / c);
      p(a % c);
      p(a / (b | 1));
      p((u128)((i128)-a / (i128)(c >> 1 | 1)));
      p((u128)((i128)-a % (i128)(c >> 1 | 1)));
      puts("");
    }
  return 0;
}
