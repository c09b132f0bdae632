// OpenMP 5.2, section 18.2.18: ancestor numbers and team sizes through three active levels, and -1 out of range.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int count = 0;
  omp_set_max_active_levels(3);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(3)
#pragma omp parallel num_threads(2)
  {
    CHECK(omp_get_level() == 3 && omp_get_ancestor_thread_num(3) == omp_get_thread_num());
    CHECK(omp_get_team_size(0) == 1 && omp_get_team_size(1) == 2 && omp_get_team_size(2) == 3 && omp_get_team_size(3) == 2);
    CHECK(omp_get_ancestor_thread_num(0) == 0 && omp_get_ancestor_thread_num(4) == -1 && omp_get_ancestor_thread_num(-1) == -1);
    CHECK(omp_get_team_size(4) == -1 && omp_get_team_size(-1) == -1);
#pragma omp atomic
    count++;
  }
  CHECK(count == 12);
  return DONE();
}
