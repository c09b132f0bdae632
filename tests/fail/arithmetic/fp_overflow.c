// Overflow of a float in serial code.
// flags: -lm
// levels: O0 O2
// signal: 8
// stderr-has: floating-point overflow
// stderr-has: fp_overflow.c:12
#define _GNU_SOURCE
#include <fenv.h>
static volatile float large = 3e38f, result;
int main(void) {
  feenableexcept(FE_OVERFLOW);
  result = large * large;
  return 0;
}
