// __builtin_*_overflow on signed types, including mixed widths.
#include <stdio.h>
#include <limits.h>
static volatile long long v[] = {0, 1, -1, INT_MAX, INT_MIN, LLONG_MAX, LLONG_MIN, 46341, -3037000500ll};
int main(void) {
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 9; j++) {
      int r;
      long long q;
      signed char c;
      short s;
      int x = (int)v[i], y = (int)v[j];
      int o = __builtin_add_overflow(x, y, &r);
      printf("%d:%d ", o, r);
      o = __builtin_sub_overflow(x, y, &r);
      printf("%d:%d ", o, r);
      o = __builtin_mul_overflow(x, y, &r);
      printf("%d:%d ", o, r);
      o = __builtin_add_overflow(v[i], v[j], &q);
      printf("%d:%lld ", o, q);
      o = __builtin_mul_overflow(v[i], v[j], &q);
      printf("%d:%lld ", o, q);
      o = __builtin_sub_overflow(x, y, &c);
      printf("%d:%d ", o, c);
      o = __builtin_mul_overflow(x, 3u, &s);
      printf("%d:%d\n", o, s);
    }
  return 0;
}
