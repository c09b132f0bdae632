// A call through a pointer to a function that the device does not have.
// signal: 6
// stderr-has: which is no function of the device
// stderr-has: function_pointer.c:11
#include <stdlib.h>
static int host(int x) { return x + 1; }
int (*volatile chosen)(int) = host;
int main(void) {
  int (*f)(int) = chosen, x = 0;
#pragma omp target map(tofrom : x)
  x = f(x);
  return x;
}
