// _FORTIFY_SOURCE: a copy longer than its destination, which the C library detects.
// levels: O1 O2
// flags: -D_FORTIFY_SOURCE=2
// signal: 6
// stderr-has: buffer overflow detected
#include <string.h>
volatile int length = 10;
static const char from[64] = "a text";
__attribute__((noinline)) static int copy(void) {
  char to[16];
  memcpy(to, from, length);
  __asm__ volatile("" : : "r"(to) : "memory");
  return to[0];
}
int main(void) {
  copy();
  length = 20;
  return copy();
}
