// exit: 6
// expect, expect_with_probability, assume, unpredictable and guarded unreachable.
#include <stdio.h>
__attribute__((noinline)) static int f(int x) {
  __builtin_assume(x >= 0);
  if (__builtin_expect(x > 100, 0)) return -1;
  if (__builtin_expect_with_probability(x & 1, 1, 0.9)) return 3 * x + 1;
  if (__builtin_unpredictable(x == 8)) return 80;
  switch (x & 6) {
  case 0: return 10;
  case 2: return 20;
  case 4: return 40;
  case 6: return 60;
  default: __builtin_unreachable();
  }
}
int main(void) {
  for (volatile int i = 0; i < 20; i++) printf("%d ", f(i));
  printf("%d %d\n", f(101), __builtin_constant_p(5) + __builtin_constant_p(f));
  return f(6) / 10;
}
