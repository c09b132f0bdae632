// The C library's own check aborts in a parallel region, while the other threads allocate.
// The second block stays allocated: the freed one then borders on memory that is in use and is
// never returned to the system, which would sometimes make the second free a fault.
// levels: O0 O2
// env: OMP_NUM_THREADS=4
// signal: 6
// stderr-has: the program called abort at tests/fail/abort/double_free_worker.c:20
// stderr-has: , thread 2
#include <omp.h>
#include <stdlib.h>
int main(void) {
#pragma omp parallel
  {
    char *volatile block = malloc(30000);
    char *volatile behind = malloc(30000);
    behind[0] = 1;
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
