// exit: 4
// flags: -std=c23
// stdckdint checked arithmetic and the C23 bit functions by builtins, unreachable, nullptr_t.
#include <stdio.h>
#include <stddef.h>
#include <stdckdint.h>
int main(void) {
  volatile int a = 2000000000;
  unsigned char c;
  int r;
  long l;
  bool o1 = ckd_add(&r, a, a), o2 = ckd_mul(&l, a, a), o3 = ckd_sub(&c, 5, a);
  printf("%d %d %d %ld %d %d ", o1, r, o2, l, o3, c);
  unsigned x = (unsigned)a;
  printf("%u %d %d\n", 1u << (31 - __builtin_clz(x)), __builtin_popcountg(x), __builtin_ctzg(x));
  switch (a & 1) {
  case 0: return 4;
  default: unreachable();
  }
}
