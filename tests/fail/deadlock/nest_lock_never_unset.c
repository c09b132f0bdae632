// omp_set_nest_lock (18.9.4): the initial thread keeps a nestable lock over a region that needs it.
// env: OMP_NUM_THREADS=2
// options: --watchdog=.5
// native: it hangs
// exit: 125
// stderr-has: thread 1 waits for nestable lock `guard`, held by thread 0
// stderr-has: nest_lock_never_unset.c:18
// stderr-has: thread 0 waits at the end of the region
#include <omp.h>
#include <stdio.h>

omp_nest_lock_t guard;
int main(void) {
  omp_init_nest_lock(&guard);
  omp_set_nest_lock(&guard);
#pragma omp parallel
  {
    omp_set_nest_lock(&guard);
    omp_unset_nest_lock(&guard);
  }
  puts("after");
}
