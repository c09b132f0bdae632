// -ffast-math: the program's link has denormals flushed to zero, in all threads; ompvm sees it in the bitcode.
// flags: -ffast-math
// levels: O0 O2
// stdout: flushed 5 of 5
#include "../../check.h"
#include <xmmintrin.h>

static volatile double least = 0x1p-1022, half = 0.5;

__attribute__((constructor)) static void early(void) { CHECK((_mm_getcsr() & 0x8040) == 0x8040); }

int main(void) {
  int flushed = least * half == 0;
#pragma omp parallel num_threads(4) reduction(+ : flushed)
  flushed += least * half == 0 && (_mm_getcsr() & 0x8040) == 0x8040;
  printf("flushed %d of 5\n", flushed);
}
