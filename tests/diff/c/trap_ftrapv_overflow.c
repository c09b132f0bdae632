// no-sanitize: traps on purpose
// levels: O2
// signal: 4
// flags: -ftrapv
// Signed overflow under -ftrapv traps (SIGILL).
#include <stdio.h>
#include <limits.h>
__attribute__((noinline)) static int add(int a, int b) { return a + b; }
int main(void) {
  volatile int m = INT_MAX;
  printf("%d\n", add(m, -1));
  fflush(stdout);
  printf("%d\n", add(m, 1));
  return 0;
}
