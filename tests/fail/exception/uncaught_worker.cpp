// An exception on a worker thread that nothing in the region catches.
// levels: O0 O2
// signal: 6
// stderr-has: terminate
// stderr-has: `int`, at tests/fail/exception/uncaught_worker.cpp:
#include <omp.h>
int main() {
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) throw 5;
  return 0;
}
