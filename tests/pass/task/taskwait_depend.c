// OpenMP 5.2, section 15.5: taskwait with a depend clause waits for those tasks only; with nowait it is a task without a body.
// flags: -fopenmp-version=51
// native: libomp 19 waits for the task it makes of a taskwait with nowait
// stdout: ok
#include "../../check.h"
int main(void) {
  int x = 0, y = 0, go = 0;
#pragma omp taskwait depend(in : x)
#pragma omp parallel
#pragma omp single
  {
    if (omp_get_num_threads() > 1) {
#pragma omp task shared(go, y) depend(out : y)
      {
        SPIN_UNTIL(__atomic_load_n(&go, __ATOMIC_ACQUIRE));
        y = 1;
      }
    }
    for (int i = 0; i < 10; i++) {
#pragma omp task shared(x) depend(inout : x)
      x++;
    }
#pragma omp taskwait depend(in : x)
    CHECK(x == 10);
#pragma omp taskwait depend(in : y) depend(inout : x) nowait
#pragma omp task shared(x, y) depend(in : x)
    CHECK(x == 10 && (y == 1 || omp_get_num_threads() == 1));
    __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
#pragma omp taskwait
  }
  return DONE();
}
