// Signed overflow under -ftrapv: an overflow intrinsic and a trap.
// levels: O0 O2
// flags: -ftrapv
// signal: 4
// stderr-has: trapv.c
#include <limits.h>
volatile int big = INT_MAX, result;
int main(void) {
  result = big + 1;
  return 0;
}
