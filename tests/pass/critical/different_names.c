// OpenMP 5.2, section 15.2: critical sections of different names may be held at once, also nested.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int step = 0, met = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_num_threads() == 2) {
    if (omp_get_thread_num() == 0) {
#pragma omp critical(left)
      {
        __atomic_store_n(&step, 1, __ATOMIC_SEQ_CST);
        SPIN_UNTIL(__atomic_load_n(&step, __ATOMIC_SEQ_CST) == 2);
        met = __atomic_load_n(&step, __ATOMIC_SEQ_CST) == 2;
#pragma omp critical(inner)
        met += 10;
      }
    } else {
      SPIN_UNTIL(__atomic_load_n(&step, __ATOMIC_SEQ_CST) == 1);
#pragma omp critical(right)
      __atomic_store_n(&step, 2, __ATOMIC_SEQ_CST);
    }
  }
  CHECK(met == 11);
  return DONE();
}
