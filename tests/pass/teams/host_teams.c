// OpenMP 5.2, section 10.2: a host teams region: a league of initial threads.
// stdout: ok
// levels: O0 O2
// optional: teams on the host
#include "../../check.h"
int main(void) {
  int seen[3] = {0};
#pragma omp teams num_teams(3) thread_limit(2)
  {
    CHECK(omp_get_num_teams() >= 1 && omp_get_num_teams() <= 3 && omp_get_thread_num() == 0 && omp_get_level() == 0);
#pragma omp atomic
    seen[omp_get_team_num()]++;
  }
  CHECK(seen[0] == 1 && seen[1] <= 1 && seen[2] <= 1);
  return DONE();
}
