// taskgroup (15.4): a thread waits for a task that it executes itself, in a critical section that it is in.
// env: OMP_NUM_THREADS=1
// options: --watchdog=.5
// native: it hangs
// exit: 125
// stderr-has: thread 0 waits in critical `once`, which it holds itself
// stderr-has: critical_in_its_own_task.c:11
#include <stdio.h>

static void task(void) {
#pragma omp critical(once)
  puts("in the task");
}
int main(void) {
#pragma omp parallel
#pragma omp critical(once)
  {
#pragma omp taskgroup
    {
#pragma omp task
      task();
    }
  }
}
