// parallel under KMP_INHERIT_FP_CONTROL=false: no thread's rounding mode changes.
// env: KMP_INHERIT_FP_CONTROL=false OMP_NUM_THREADS=4
// flags: -lm
// levels: O0 O2
// stdout: workers as before 3
// stdout: left by the region 1
#include "../../check.h"
#include <fenv.h>
#include <omp.h>

int main(void) {
  int before = 0;
#pragma omp parallel
  fesetround(omp_get_thread_num() ? FE_DOWNWARD : FE_TONEAREST);
  fesetround(FE_UPWARD);
#pragma omp parallel reduction(+ : before)
  {
    before += fegetround() == FE_DOWNWARD;
    if (omp_get_thread_num() == 0)
      fesetround(FE_TOWARDZERO);
  }
  printf("workers as before %d\n", before);
  printf("left by the region %d\n", fegetround() == FE_TOWARDZERO);
}
