// taskwait (15.5): a thread waits for a task that waits for a lock, which the thread holds.
// env: OMP_NUM_THREADS=2
// options: --watchdog=.5
// native: it hangs
// exit: 125
// stderr-has: waits for lock `guard`, held by thread 0
// stderr-has: taskwait_for_locked_task.c:24
// stderr-has: thread 0 waits in taskwait
// stderr-has: taskwait_for_locked_task.c:28
#include <omp.h>
#include <stdio.h>

omp_lock_t guard;
int main(void) {
  omp_init_lock(&guard);
  int begun = 0;
#pragma omp parallel shared(begun)
#pragma omp masked
  {
    omp_set_lock(&guard);
#pragma omp task shared(begun)
    {
      __atomic_store_n(&begun, 1, __ATOMIC_SEQ_CST);
      omp_set_lock(&guard), omp_unset_lock(&guard);
    }
    while (!__atomic_load_n(&begun, __ATOMIC_SEQ_CST))
      ;
#pragma omp taskwait
    omp_unset_lock(&guard);
  }
  puts("after");
}
