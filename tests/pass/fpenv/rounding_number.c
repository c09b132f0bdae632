// `FLT_ROUNDS` (llvm.get.rounding) follows the rounding mode, which fesetround and __builtin_set_flt_rounds set, in
// every thread.
// levels: O0 O2
// flags: -lm
// stdout: ok
#include "../../check.h"
#include <fenv.h>
#include <float.h>

static const int modes[4] = {FE_TOWARDZERO, FE_TONEAREST, FE_UPWARD, FE_DOWNWARD};

__attribute__((noinline)) static int number(void) { return FLT_ROUNDS; }

int main(void) {
  CHECK(number() == 1);
  for (int k = 0; k < 4; k++) {
    fesetround(modes[k]);
    CHECK(number() == k);
#pragma omp parallel
    CHECK(number() == k);
  }
  for (int k = 0; k < 4; k++) {
    __builtin_set_flt_rounds(k);
    CHECK(fegetround() == modes[k]);
    CHECK(number() == k);
  }
  fesetround(FE_TONEAREST);
  DONE();
}
