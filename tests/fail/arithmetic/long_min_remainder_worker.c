// LONG_MIN % -1 traps too, here on a worker thread.
// levels: O0 O2
// signal: 8
// stderr-has: long_min_remainder_worker.c:11
#include <limits.h>
#include <omp.h>
volatile long lowest = LONG_MIN, minus = -1, result;
int main(void) {
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1)
    result = lowest % minus;
  return 0;
}
