// Bytes that only pad a mapped section for alignment are not mapped: an access to them is a fault.
// signal: 6
// stderr-has: padding.c:13
// stderr-has: 4 bytes before a block of 12 bytes on the device
#include "../../check.h"
static _Alignas(64) int a[16];
int main(void) {
  for (int i = 0; i < 16; i++) a[i] = i;
  int first = 3, got = 0;
  // The section begins 12 bytes behind a multiple of 16.
#pragma omp target map(to : a[3 : 3]) map(from : got)
  {
    got = a[first - 1] + a[3];
  }
  CHECK(got == 5);
  return DONE();
}
