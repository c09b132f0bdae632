// barrier (15.3): a thread that computes for long, or that waits for a flag, is no deadlock.
// env: OMP_NUM_THREADS=2
// options: --watchdog=.2
// stdout: ok
#include "../../check.h"
#include <omp.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}
int main(void) {
  int flag = 0;
#pragma omp parallel shared(flag)
  {
#pragma omp critical
    if (omp_get_thread_num() == 0)
      for (double end = now() + .7; now() < end;) {
      }
#pragma omp barrier
    for (int round = 0; round < 1000; round++) {
#pragma omp barrier
    }
#pragma omp masked
    __atomic_store_n(&flag, 1, __ATOMIC_SEQ_CST);
    SPIN_UNTIL(__atomic_load_n(&flag, __ATOMIC_SEQ_CST));
  }
  DONE();
}
