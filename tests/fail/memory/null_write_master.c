// The primary thread writes through a null pointer inside a parallel region.
// levels: O0 O2
// signal: 11
// stderr-has: null_write_master.c:10
#include <omp.h>
int *volatile nowhere;
int main(void) {
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0)
    *nowhere = 1;
  return 0;
}
