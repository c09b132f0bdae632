// memcpy into a member of a structure runs over the whole structure: -fstack-protector-all guards every function.
// levels: O0 O2
// flags: -fstack-protector-all -U_FORTIFY_SOURCE
// signal: 6
// stderr-has: stack smashing detected
// stderr-has: all_member.c:
#include <string.h>
struct pair {
  int a;
  short b[3];
};
volatile int size = 6;
static char from[96];
__attribute__((noinline)) static int copy(void) {
  struct pair p = {1, {2, 3, 4}};
  memcpy(p.b, from, size);
  __asm__ volatile("" : : "r"(&p) : "memory");
  return p.a + p.b[1];
}
int main(void) {
  copy();
  size = 64;
  return copy();
}
