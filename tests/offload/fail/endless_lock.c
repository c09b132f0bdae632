// A region that takes a lock twice never ends: it is stopped at its time limit.
// env: OMPVM_TARGET_TIMEOUT=0.3
// signal: 6
// stderr-has: the region exceeded the time limit of OMPVM_TARGET_TIMEOUT
#include <omp.h>
int main(void) {
#pragma omp target
  {
    omp_lock_t l;
    omp_init_lock(&l);
    omp_set_lock(&l);
    omp_set_lock(&l);
  }
  return 0;
}
