// OpenMP 5.2, section 18.3: queries of binding, places and tasks have sane results by default.
// stdout: ok
// levels: O0 O2
// optional: queries of places and tasks
#include "../../check.h"
int main(void) {
  omp_proc_bind_t bind = omp_get_proc_bind();
  CHECK(bind >= omp_proc_bind_false && bind <= omp_proc_bind_spread);
  CHECK(omp_get_num_places() >= 0 && omp_get_place_num() >= -1 && omp_get_max_task_priority() == 0);
  CHECK(omp_get_num_teams() == 1 && omp_get_team_num() == 0);
  return DONE();
}
