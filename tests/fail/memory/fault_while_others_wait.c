// A fault in one thread while the rest wait in a barrier.
// levels: O0 O2
// signal: 11
// stderr-has: fault_while_others_wait.c:11
#include <omp.h>
int *volatile nowhere;
int main(void) {
#pragma omp parallel num_threads(4)
  {
    if (omp_get_thread_num() == 2)
      *nowhere = 1;
#pragma omp barrier
  }
  return 0;
}
