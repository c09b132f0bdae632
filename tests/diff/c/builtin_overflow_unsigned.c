// __builtin_*_overflow on unsigned types and 128 bits, and the add-with-carry builtins.
#include <stdio.h>
static volatile unsigned long long v[] = {0, 1, 2, 0xffffffff, 0x100000000, 0x8000000000000000, ~0ull, 0xfffffffe};
int main(void) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) {
      unsigned r;
      unsigned long long q, cy;
      unsigned char c;
      unsigned __int128 w;
      int o = __builtin_add_overflow((unsigned)v[i], (unsigned)v[j], &r);
      printf("%d:%u ", o, r);
      o = __builtin_sub_overflow((unsigned)v[i], (unsigned)v[j], &r);
      printf("%d:%u ", o, r);
      o = __builtin_mul_overflow(v[i], v[j], &q);
      printf("%d:%llu ", o, q);
      o = __builtin_sub_overflow(v[i], v[j], &q);
      printf("%d:%llu ", o, q);
      o = __builtin_add_overflow((unsigned char)v[i], (unsigned char)v[j], &c);
      printf("%d:%u ", o, c);
      o = __builtin_mul_overflow((unsigned __int128)v[i] << 40, v[j], &w);
      printf("%d:%llx ", o, (unsigned long long)(w >> 64));
      q = __builtin_addcll(v[i], v[j], 1, &cy);
      printf("%llx:%llx ", q, cy);
      q = __builtin_subcll(v[i], v[j], 1, &cy);
      printf("%llx:%llx\n", q, cy);
    }
  return 0;
}
