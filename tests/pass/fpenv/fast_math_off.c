// --flush-denormals=off has the effect of a link without -ffast-math.
// flags: -ffast-math
// levels: O0 O2
// options: --flush-denormals=off
// native: a native program flushes
// stdout: kept 1
#include "../../check.h"

static volatile double least = 0x1p-1022, half = 0.5;

int main(void) {
  volatile double less = least * half;
  printf("kept %d\n", *(volatile unsigned long *)&less != 0);
}
