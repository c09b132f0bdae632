// Variables declared in a region, one for each team and one for each thread.
#include "../../check.h"
int main(void) {
  int v[8] = {0};
#pragma omp target teams num_teams(8) thread_limit(32) map(tofrom : v)
  {
    int team = 0;
#pragma omp parallel num_threads(16)
    {
      int own = omp_get_thread_num() >= 0;
#pragma omp atomic
      team += own;
    }
    v[omp_get_team_num()] = team;
  }
  CHECK(v[0] >= 1);
  for (int i = 0; i < 8; i++) CHECK(v[i] == 0 || v[i] == v[0]);
  return DONE();
}
