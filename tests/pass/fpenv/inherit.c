// In `parallel`, each region's members begin with the rounding mode of the thread that forks, and the thread has its own
// again after the join (OpenMP leaves it to the implementation; libomp: KMP_INHERIT_FP_CONTROL, which is on).
// flags: -lm
// levels: O0 O2
// stdout: upward 4 after 1
// stdout: downward 4 after 1
// stdout: zero 3 after 1
// stdout: nearest 4 after 1
// stdout: one thread 1 after 1
// stdout: serialized 1 after 1
// stdout: flags of the forking thread 1
#include "../../check.h"
#include <fenv.h>
#include <omp.h>

static volatile double one = 1, three = 3;

// Returns the rounding mode that arithmetic uses.
__attribute__((noinline)) static int mode(void) {
  double up = one / three, down = -one / three;
  if (up > 0x1.5555555555555p-2)
    return FE_UPWARD;
  if (down < -0x1.5555555555555p-2)
    return FE_DOWNWARD;
  return fegetround() == FE_TOWARDZERO ? FE_TOWARDZERO : FE_TONEAREST;
}

__attribute__((noinline)) static void warm(int threads) {
  volatile int ran = 0;
#pragma omp parallel num_threads(threads)
#pragma omp atomic
  ran++;
}

__attribute__((noinline)) static void region(const char *name, int threads, int want) {
  int right = 0;
  fesetround(want);
#pragma omp parallel num_threads(threads) reduction(+ : right)
  {
    right += mode() == want && fegetround() == want;
    // A mode that a member sets ends with its region.
    fesetround(omp_get_thread_num() % 2 ? FE_UPWARD : FE_TOWARDZERO);
  }
  printf("%s %d after %d\n", name, right, mode() == want);
}

int main(void) {
  warm(4);
  region("upward", 4, FE_UPWARD);
  region("downward", 4, FE_DOWNWARD);
  region("zero", 3, FE_TOWARDZERO);
  region("nearest", 4, FE_TONEAREST);
  region("one thread", 1, FE_UPWARD);
  int right = 0, no = omp_get_num_procs() < 0;
#pragma omp parallel if (no) reduction(+ : right)
  {
    right += mode() == FE_UPWARD;
    fesetround(FE_DOWNWARD);
  }
  printf("serialized %d after %d\n", right, mode() == FE_UPWARD);
  // The modes did not change, so the flags stay.
  feclearexcept(FE_ALL_EXCEPT);
  feraiseexcept(FE_OVERFLOW);
  warm(4);
  printf("flags of the forking thread %d\n", fetestexcept(FE_OVERFLOW) == FE_OVERFLOW);
}
