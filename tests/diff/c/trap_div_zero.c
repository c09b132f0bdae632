// no-sanitize: traps on purpose
// signal: 8
// Integer division by zero dies by SIGFPE.
#include <stdio.h>
__attribute__((noinline)) static int f(int a, int b) { return a / b; }
int main(void) {
  volatile int z = 0;
  puts("dividing");
  fflush(stdout);
  int r = f(5, z);
  printf("%d\n", r);
  return 0;
}
