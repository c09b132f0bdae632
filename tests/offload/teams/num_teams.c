// OpenMP 5.2, section 10.2: num_teams and thread_limit.
#include "../../check.h"
int main(void) {
  int teams = 0, seen[8] = {0}, most = 0;
#pragma omp target teams num_teams(4) thread_limit(32) map(tofrom : teams, seen, most)
  {
    if (omp_get_team_num() == 0) teams = omp_get_num_teams();
    seen[omp_get_team_num()] = 1;
#pragma omp parallel
    if (omp_get_team_num() == 0 && omp_get_thread_num() == 0) most = omp_get_num_threads();
  }
  CHECK(teams == 4);
  for (int i = 0; i < 8; i++) CHECK(seen[i] == (i < 4));
  CHECK(most >= 1 && most <= 32);
  return DONE();
}
