// OpenMP 5.2, sections 18.4.4 and 21.6.1: OMP_NUM_TEAMS bounds the teams of a device if the program does not specify their number.
// env: OMP_NUM_TEAMS=3 OMP_TEAMS_THREAD_LIMIT=16
#include "../../check.h"
int main(void) {
  int bound = -1, made = 0, asked = 0, threads = 0, loops[64] = {0};
#pragma omp target map(from : bound)
  bound = omp_get_max_teams();
  CHECK(bound == 3);
#pragma omp target teams map(tofrom : made, threads)
  if (omp_get_team_num() == 0) made = omp_get_num_teams(), threads = omp_get_thread_limit();
  CHECK(made >= 1 && made <= 3);
  CHECK(threads >= 1 && threads <= 16);
#pragma omp target teams num_teams(5) map(tofrom : asked)
  if (omp_get_team_num() == 0) asked = omp_get_num_teams();
  CHECK(asked == 5);
#pragma omp target teams distribute map(tofrom : loops)
  for (int i = 0; i < 64; i++) loops[i] = omp_get_team_num() < 3;
  for (int i = 0; i < 64; i++) CHECK(loops[i]);
  return DONE();
}
