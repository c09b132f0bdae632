// A worker thread's atomic update through a null pointer.
// levels: O0 O2
// signal: 11
// stderr-has: null_atomic_worker.c:12
#include <omp.h>
int *volatile nowhere;
int main(void) {
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) {
    int *p = nowhere;
#pragma omp atomic
    *p += 1;
  }
  return 0;
}
