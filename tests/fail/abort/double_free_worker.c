// The C library's own check aborts in a parallel region, while the other threads allocate.
// levels: O0 O2
// env: OMP_NUM_THREADS=4
// signal: 6
// stderr-has: the program called abort at tests/fail/abort/double_free_worker.c:16
// stderr-has: , thread 2
#include <omp.h>
#include <stdlib.h>
int main(void) {
#pragma omp parallel
  {
    char *volatile block = malloc(100000);
#pragma omp barrier
    if (omp_get_thread_num() == 2) {
      free(block);
      free(block);
    }
    for (int i = 0; i < 100000000; i++)
      free(malloc(100 + i % 5000));
  }
  return 0;
}
