// A fault in a worker of an inner team.
// levels: O0 O2
// signal: 11
// stderr-has: null_in_nested_worker.c:12
#include <omp.h>
int *volatile nowhere;
int main(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
  if (omp_get_ancestor_thread_num(1) == 1 && omp_get_thread_num() == 1)
    *nowhere = 1;
  return 0;
}
