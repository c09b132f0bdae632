// popcount, clz, ctz, ffs, parity, clrsb at int and long long, plus the type-generic forms.
#include <stdio.h>
static volatile unsigned long long v[] = {
    1, 2, 0x80, 0xff00, 0x80000000, 0xffffffff, 0x123456789abcdef0, 0x8000000000000000, ~0ull};
int main(void) {
  for (int i = 0; i < 9; i++) {
    unsigned long long x = v[i];
    unsigned y = (unsigned)x;
    printf("%d %d %d %d %d %d ", __builtin_popcountll(x), __builtin_clzll(x), __builtin_ctzll(x),
           __builtin_ffsll((long long)x), __builtin_parityll(x), __builtin_clrsbll((long long)x));
    if (y) printf("%d %d %d %d ", __builtin_popcount(y), __builtin_clz(y), __builtin_ctz(y), __builtin_clrsb((int)y));
    printf("%d %d %d %d\n", __builtin_ffs((int)y), __builtin_clzg((unsigned char)x, 8),
           __builtin_ctzg((unsigned short)x, -1), __builtin_popcountg((unsigned __int128)x << 3));
  }
  return 0;
}
