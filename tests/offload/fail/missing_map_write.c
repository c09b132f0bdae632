// A member of a structure points to memory that is not mapped.
// signal: 6
// stderr-has: a write of 8 bytes at
// stderr-has: an address of the host
// stderr-has: missing_map_write.c:12
#include <stdlib.h>
struct S { double *data; };
int main(void) {
  struct S s = {malloc(80)};
#pragma omp target map(tofrom : s)
  {
    s.data[2] = 1;
  }
  return 0;
}
