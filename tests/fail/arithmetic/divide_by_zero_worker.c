// Integer division by zero on a worker thread.
// levels: O0 O2
// signal: 8
// stderr-has: divide_by_zero_worker.c:10
#include <omp.h>
volatile long zero, result;
int main(void) {
#pragma omp parallel num_threads(3)
  if (omp_get_thread_num() == 2)
    result = 7 / zero;
  return 0;
}
