// critical (15.2): a thread waits at a barrier in a critical section that the others wait for.
// env: OMP_NUM_THREADS=3
// options: --watchdog=.5
// native: it hangs
// exit: 125
// stderr-has: ompvm: deadlock: every thread of the program waits
// stderr-has: waits at a barrier
// stderr-has: barrier_in_critical.c:23
// stderr-has: waits in critical (unnamed), held by thread
// stderr-has: barrier_in_critical.c:16
#include <stdio.h>

static void meet(void);
int main(void) {
#pragma omp parallel
#pragma omp critical
  {
    meet();
  }
  puts("after");
}
static void meet(void) {
#pragma omp barrier
}
