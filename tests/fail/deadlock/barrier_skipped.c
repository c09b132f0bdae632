// barrier (15.3): one thread of three ends the region without the barrier, so the others cannot go on.
// env: OMP_NUM_THREADS=3
// options: --watchdog=.5
// native: it hangs
// exit: 125
// stdout: before
// stderr-has: ompvm: deadlock: every thread of the program waits
// stderr-has: barrier_skipped.c:17
// stderr-has: thread 1 has ended the region
#include <omp.h>
#include <stdio.h>

int main(void) {
  puts("before");
#pragma omp parallel
  if (omp_get_thread_num() != 1) {
#pragma omp barrier
#pragma omp barrier
  }
  puts("after");
}
