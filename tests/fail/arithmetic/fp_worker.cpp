// Floating-point division by zero on a worker, after feenableexcept unmasked it on the forking thread.
// levels: O0 O2
// signal: 8
// stderr-has: floating-point division by zero
// stderr-has: fp_worker.cpp:16
#include <cfenv>
#include <omp.h>
static volatile double zero, result;
int main() {
#pragma omp parallel num_threads(3)
  result = 1;
  feenableexcept(FE_DIVBYZERO);
#pragma omp parallel num_threads(3)
  {
    if (omp_get_thread_num() == 1)
      result = 1 / zero;
#pragma omp barrier
  }
}
