// LONG_MIN % -1 traps too, here on a worker thread.
// signal: 8
// stderr-has: long_min_remainder_worker.c:10
#include <limits.h>
#include <omp.h>
volatile long lowest = LONG_MIN, minus = -1, result;
int main(void) {
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1)
    result = lowest % minus;
  return 0;
}
