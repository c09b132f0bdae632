// A call to an address that cannot exist.
// signal: 11
// stderr-has: cannot exist
// stderr-has: not_canonical_call.c:9
#include <stdint.h>
int main(void) {
  volatile uintptr_t bits = 0x4141414141414141u;
  int (*f)(void) = (int (*)(void))bits;
  return f() + 1;
}
