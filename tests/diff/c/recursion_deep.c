// Recursion ten thousand frames deep, with locals whose address is taken, and mutual recursion.
#include <stdio.h>
__attribute__((noinline)) static long depth(int n, long *parent) {
  volatile long here = n + (parent ? *parent : 0);
  if (n == 0) return here;
  long h = here & 0xffff;
  long r = depth(n - 1, &h);
  return r ^ here;
}
static int even(unsigned n);
__attribute__((noinline)) static int odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }
__attribute__((noinline)) static int even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }
int main(void) {
  printf("%ld %d %d\n", depth(10000, 0), even(9999), odd(8001));
  return 0;
}
