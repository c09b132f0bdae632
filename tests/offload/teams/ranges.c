// OpenMP 5.2, sections 10.2 and 10.2.1: numbers of teams, and no more threads than the limit allows.
#include "../../check.h"
int main(void) {
  for (int low = 1; low < 30; low += 7) {
    int teams = 0, most = 0, inside = 0;
#pragma omp target teams num_teams(low) thread_limit(40) map(from : teams) map(tofrom : most, inside)
    {
      if (omp_get_team_num() == 0) teams = omp_get_num_teams();
#pragma omp parallel
      {
        int n = omp_get_num_threads();
#pragma omp atomic compare
        if (most < n) most = n;
#pragma omp masked
#pragma omp atomic
        inside++;
      }
    }
    CHECK(teams >= 1 && teams <= low && inside == teams);
    CHECK(most >= 1 && most <= 40);
  }
  return DONE();
}
