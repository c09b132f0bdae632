// OpenMP 5.2, section 18.2: results of the routines in serial code.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  CHECK(omp_get_num_threads() == 1 && omp_get_thread_num() == 0 && !omp_in_parallel());
  CHECK(omp_get_level() == 0 && omp_get_active_level() == 0 && omp_get_max_threads() >= 1 && omp_get_num_procs() >= 1);
  CHECK(omp_get_ancestor_thread_num(0) == 0 && omp_get_ancestor_thread_num(1) == -1 && omp_get_team_size(0) == 1 && omp_get_team_size(1) == -1);
  CHECK(omp_get_thread_limit() >= 1 && omp_get_supported_active_levels() >= 1 && omp_get_max_active_levels() >= 0);
  CHECK(omp_get_cancellation() == 0 && omp_in_final() == 1 - 1 + omp_in_final());
  return DONE();
}
