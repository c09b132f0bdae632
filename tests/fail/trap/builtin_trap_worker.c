// __builtin_trap on a worker thread.
// levels: O0 O2
// signal: 4
// stderr-has: builtin_trap_worker.c:9
#include <omp.h>
int main(void) {
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1)
    __builtin_trap();
  return 0;
}
