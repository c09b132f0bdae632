// omp_set_lock (18.9.4): a thread sets a lock that it holds already.
// env: OMP_NUM_THREADS=2
// options: --watchdog=.5
// native: it hangs
// exit: 125
// stderr-has: thread 0 waits for lock `guard`, which it holds itself
// stderr-has: lock_set_twice.c:18
#include <omp.h>
#include <stdio.h>

omp_lock_t guard;
int main(void) {
  omp_init_lock(&guard);
#pragma omp parallel
#pragma omp masked
  {
    omp_set_lock(&guard);
    omp_set_lock(&guard);
  }
  puts("after");
}
