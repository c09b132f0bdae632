// no-sanitize: faults on purpose
// signal: 11
// A call through a null function pointer dies by SIGSEGV.
#include <stdio.h>
int main(void) {
  void (*volatile f)(void) = 0;
  puts("calling");
  fflush(stdout);
  f();
  return 0;
}
