// no-sanitize: overflows the stack on purpose
// signal: 11
// flags: -Wno-infinite-recursion
// Endless recursion dies by SIGSEGV.
#include <stdio.h>
__attribute__((noinline)) static long down(long n) {
  volatile char pad[512];
  pad[n & 511] = (char)n;
  return down(n + 1) + pad[n & 511];
}
int main(void) {
  puts("descending");
  fflush(stdout);
  printf("%ld\n", down(0));
  return 0;
}
