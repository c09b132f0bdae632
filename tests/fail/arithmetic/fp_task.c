// An invalid operation in a task, with the trap unmasked before the region.
// flags: -lm
// levels: O0 O2
// signal: 8
// stderr-has: an invalid floating-point operation
// stderr-has: fp_task.c:19
#define _GNU_SOURCE
#include <fenv.h>
static volatile double zero, result;
int main(void) {
#pragma omp parallel num_threads(2)
  result = 1;
  feenableexcept(FE_INVALID);
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 8; i++) {
#pragma omp task
    if (i == 5)
      result = zero / zero;
  }
}
