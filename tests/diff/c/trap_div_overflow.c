// no-sanitize: traps on purpose
// signal: 8
// INT_MIN / -1 dies by SIGFPE on x86-64.
#include <stdio.h>
#include <limits.h>
__attribute__((noinline)) static long f(long a, long b) { return a / b; }
int main(void) {
  volatile long m = -1;
  puts("dividing");
  fflush(stdout);
  long r = f(LONG_MIN, m);
  printf("%ld\n", r);
  return 0;
}
