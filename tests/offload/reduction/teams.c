// OpenMP 5.2, section 5.5: a reduction over teams alone.
#include "../../check.h"
int main(void) {
  int sum = 0, teams = 0;
#pragma omp target teams num_teams(6) map(tofrom : sum, teams) reduction(+ : sum)
  {
    sum += omp_get_team_num() + 1;
    if (omp_get_team_num() == 0) teams = omp_get_num_teams();
  }
  CHECK(sum == teams * (teams + 1) / 2);
  return DONE();
}
