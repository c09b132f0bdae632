// --flush-denormals=on has the effect of a link with -ffast-math of files that were compiled without it.
// levels: O0 O2
// options: --flush-denormals=on
// native: it is linked without
// stdout: flushed 5 of 5
#include "../../check.h"

static volatile double least = 0x1p-1022, half = 0.5;

int main(void) {
  int flushed = least * half == 0;
#pragma omp parallel num_threads(4) reduction(+ : flushed)
  flushed += least * half == 0;
  printf("flushed %d of 5\n", flushed);
}
