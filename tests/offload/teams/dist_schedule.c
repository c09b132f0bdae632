// OpenMP 5.2, section 11.6: chunks of dist_schedule go to the teams in turn; each iteration once.
#include "../../check.h"
int main(void) {
  enum { N = 1000 };
  int team[N], seen[N];
  for (int i = 0; i < N; i++) seen[i] = 0;
#pragma omp target teams distribute num_teams(5) dist_schedule(static, 7) map(from : team) map(tofrom : seen)
  for (int i = 0; i < N; i++) team[i] = omp_get_team_num(), seen[i]++;
  int teams = 0;
  for (int i = 0; i < N; i++) teams = team[i] >= teams ? team[i] + 1 : teams;
  for (int i = 0; i < N; i++) CHECK(seen[i] == 1 && team[i] == i / 7 % teams);
#pragma omp target teams distribute parallel for num_teams(3) dist_schedule(static, 64) schedule(static, 1) map(tofrom : seen)
  for (int i = N - 1; i >= 0; i -= 3) seen[i] += 10;
  for (int i = 0; i < N; i++) CHECK(seen[i] == (i % 3 == 0 ? 11 : 1));
  return DONE();
}
