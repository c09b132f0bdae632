// A region that ends by __builtin_trap() says so.
// signal: 6
// stderr-has: called `abort` or `exit`, or reached a trap
#include <stdlib.h>
int main(void) {
  int x = 0;
#pragma omp target map(tofrom : x)
  if (x == 0) __builtin_trap();
  return x;
}
