// A region that ends by abort() says so.
// signal: 6
// stderr-has: called `abort` or `exit`, or reached a trap
#include <stdlib.h>
int main(void) {
  int x = 0;
#pragma omp target map(tofrom : x)
  if (x == 0) abort();
  return x;
}
