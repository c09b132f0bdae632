// An unreachable instruction executed at -O0 by a worker thread.
// flags: -mllvm -trap-unreachable
// levels: O0
// signal: 4
// stderr-has: unreachable_worker.c:
#include <omp.h>
int main(void) {
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) __builtin_unreachable();
  return 0;
}
