// An assertion that does not hold in a region.
// signal: 6
// stderr-has: the assertion `x == 5` failed in
// stderr-has: assert.c:9
#include <assert.h>
int main(void) {
  int x = 4;
#pragma omp target firstprivate(x)
  assert(x == 5);
  return 0;
}
