// abort() on a worker thread.
// levels: O0 O2
// signal: 6
// stderr-has: abort_worker.c:9
#include <omp.h>
#include <stdlib.h>
int main(void) {
#pragma omp parallel num_threads(4)
  if (omp_get_thread_num() == 3) abort();
  return 0;
}
