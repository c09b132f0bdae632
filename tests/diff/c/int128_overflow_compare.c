// __int128 overflow builtins, signed comparisons around zero, negation and absolute value.
#include <stdio.h>
typedef __int128 i128;
static void p(i128 v) { printf("%llx:%llx ", (unsigned long long)((unsigned __int128)v >> 64), (unsigned long long)v); }
int main(void) {
  i128 big = (i128)1 << 126;
  volatile long k[] = {0, 1, -1, 1l << 62, -(1l << 62)};
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 5; j++) {
      i128 a = big / 3 * (k[i] >> 60) + k[i], b = (i128)k[j] * (1l << 62), r;
      int o = __builtin_add_overflow(a, b, &r);
      p(r);
      o = o * 2 + __builtin_sub_overflow(a, b * 2, &r);
      p(r);
      o = o * 2 + __builtin_mul_overflow(a, (i128)k[j], &r);
      p(r);
      p(a < 0 ? -a : a);
      printf("%d %d%d%d%d\n", o, a < b, a <= b, a > 0, a != b);
    }
  return 0;
}
