// A division whose result does not fit.
// signal: 6
// stderr-has: an integer division
#include <limits.h>
int main(void) {
  volatile int a = INT_MIN, b = -1;
  int x = a, y = b, c = 0;
#pragma omp target map(from : c)
  c = x / y;
  return c;
}
