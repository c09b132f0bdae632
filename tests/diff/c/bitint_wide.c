// _BitInt between 65 and 128 bits: arithmetic, shifts, comparison, division.
#include <stdio.h>
typedef unsigned _BitInt(65) u65;
typedef unsigned _BitInt(96) u96;
typedef _BitInt(100) s100;
typedef unsigned _BitInt(128) u128;
#define P(x) printf("%llx:%llx ", (unsigned long long)((u128)(x) >> 64), (unsigned long long)(u128)(x))
int main(void) {
  volatile unsigned long long v[] = {1, ~0ull, 0x8000000000000000, 12345678901234567};
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      u65 a = (u65)((u65)v[i] << 1 | 1), b = (u65)v[j];
      u96 c = (u96)((u96)v[i] << 30), d = (u96)((u96)v[j] * 77);
      s100 e = (s100)v[i] - (s100)v[j] * 3;
      u128 g = (u128)v[i] * v[j];
      P((u65)(a + b));
      P((u65)(a * b));
      P((u96)(c - d));
      P(c / d);
      P(c % d);
      P(e);
      P(e / 7);
      P(e >> 5);
      P(g);
      P(g >> (j * 31));
      printf("%d %d\n", a < b, e < 0);
    }
  return 0;
}
