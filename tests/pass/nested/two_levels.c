// OpenMP 5.2, section 10.1: with max-active-levels 2, an inner region forks its own team per outer thread.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int cells[3][2] = {{0}};
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3)
  {
    int outer = omp_get_thread_num();
#pragma omp parallel num_threads(2)
    {
      CHECK(omp_get_level() == 2 && omp_get_active_level() == 2 && omp_get_num_threads() == 2);
      CHECK(omp_get_ancestor_thread_num(1) == outer && omp_get_team_size(1) == 3);
      cells[omp_get_ancestor_thread_num(1)][omp_get_thread_num()]++;
    }
  }
  for (int i = 0; i < 6; i++) CHECK(cells[i / 2][i % 2] == 1);
  return DONE();
}
