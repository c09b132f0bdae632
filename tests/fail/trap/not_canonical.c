// A pointer whose upper bits are damaged: the processor refuses it without naming an address.
// signal: 11
// stderr-has: access to an address that cannot exist
// stderr-has: not_canonical.c:9
#include <stdint.h>
int main(void) {
  int x = 3;
  volatile uintptr_t bits = (uintptr_t)&x | 0x4141000000000000u;
  return *(int *)bits;
}
