// Traps at inexact results reach the program's computations alone: neither the first call of a function that needs a
// compiler of rare instructions raises an exception, nor does it leave a flag.
// levels: O0 O2
// flags: -lm
// env: OMP_NUM_THREADS=2
// stdout: ok
#define _GNU_SOURCE
#include "../../check.h"
#include <fenv.h>

static volatile _Float16 half = 1;
static volatile long double wide = 2;

__attribute__((noinline)) static void rare(void) {
  half = half + half;
  wide = wide * wide;
}

int main(void) {
  feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(FE_ALL_EXCEPT);
  rare();
  fedisableexcept(FE_ALL_EXCEPT);
  CHECK(fetestexcept(FE_ALL_EXCEPT) == 0);
  CHECK(half == 2 && wide == 4);
  DONE();
}
