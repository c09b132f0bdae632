// single copyprivate (11.1): one thread of three does not take part.
// env: OMP_NUM_THREADS=3
// options: --watchdog=.5
// native: it hangs
// exit: 125
// stderr-has: ompvm: deadlock: every thread of the program waits
// stderr-has: thread 0 waits at a barrier
// stderr-has: single_without_a_thread.c:22
// stderr-has: thread 2 waits for lock `guard`, held by thread 0
// stderr-has: single_without_a_thread.c:19
#include <omp.h>
#include <stdio.h>

omp_lock_t guard;
int main(void) {
  omp_init_lock(&guard), omp_set_lock(&guard);
#pragma omp parallel
  {
    if (omp_get_thread_num() == 2) omp_set_lock(&guard);
    int value;
#pragma omp single copyprivate(value)
    value = 7;
    printf("%d\n", value);
  }
}
