// OpenMP 5.2, section 18.2.15: with max-active-levels 1 an inner region is inactive: a team of one at level 2.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int inner = 0;
  omp_set_max_active_levels(1);
#pragma omp parallel num_threads(3)
  {
    // Not `inner` itself, which the outer threads would add to at the same time.
    int own = 0;
#pragma omp parallel num_threads(4) reduction(+ : own)
    {
      own++;
      CHECK(omp_get_level() == 2 && omp_get_active_level() == 1 && omp_get_num_threads() == 1 && omp_in_parallel());
      CHECK(omp_get_team_size(1) == 3 && omp_get_team_size(2) == 1 && omp_get_team_size(0) == 1);
    }
#pragma omp atomic
    inner += own;
  }
  CHECK(inner == 3);
  return DONE();
}
