// no-sanitize: traps on purpose
// signal: 11
// A load through a null pointer dies by SIGSEGV.
#include <stdio.h>
int main(void) {
  int *volatile p = 0;
  puts("loading");
  fflush(stdout);
  volatile int *q = p;
  return *q;
}
