// A pointer that is not mapped is used in a region.
// signal: 6
// stderr-has: a read of 4 bytes at
// stderr-has: an address of the host
// stderr-has: missing_map.c:14
// stderr-has: a missing map clause
// stderr-has: in the target region at
// stderr-has: missing_map.c:13 (main)
#include <stdlib.h>
int main(void) {
  int *p = malloc(40), x = 0;
  p[3] = 4;
#pragma omp target map(from : x)
  x = p[3];
  return x;
}
