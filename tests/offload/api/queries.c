// OpenMP 5.2, section 18.7: queries about devices on both sides.
// options: --device=emulated:1
#include "../../check.h"
int main(void) {
  int teams = 0, team = -1, threads = 0, level = -1, limit = 0, num = -1, initial = 1, procs = 0, most = 0;
  CHECK(omp_is_initial_device() && omp_get_num_devices() == 1);
  CHECK(omp_get_device_num() == omp_get_initial_device() && omp_get_initial_device() == 1);
#pragma omp target map(from : teams, team, threads, level, limit, num, initial, procs, most)
  {
    teams = omp_get_num_teams(), team = omp_get_team_num(), threads = omp_get_num_threads();
    level = omp_get_level(), limit = omp_get_thread_limit(), num = omp_get_device_num();
    initial = omp_is_initial_device(), procs = omp_get_num_procs(), most = omp_get_max_threads();
  }
  CHECK(teams == 1 && team == 0 && threads == 1 && level == 0 && num == 0 && !initial);
  CHECK(limit >= 1 && procs >= 1 && most >= 1);
  CHECK(omp_target_is_accessible(&num, sizeof num, omp_get_initial_device()));
  return DONE();
}
