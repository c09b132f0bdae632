// A trap that a member of the outer region unmasked affects only the workers of its inner region.
// flags: -lm
// levels: O0 O2
// signal: 8
// stderr-has: floating-point division by zero
// stderr-has: fp_nested.c:24
#define _GNU_SOURCE
#include <fenv.h>
#include <omp.h>
static volatile double zero, result;
int main(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
  result = 1;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0)
      result = 1 / zero;
#pragma omp barrier
    if (omp_get_thread_num() == 1) {
      feenableexcept(FE_DIVBYZERO);
#pragma omp parallel num_threads(2)
      result = omp_get_thread_num() == 1 ? 1 / zero : 0;
    }
  }
}
