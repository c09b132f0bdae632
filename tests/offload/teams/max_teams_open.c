// OpenMP 5.2, section 18.4.4: without OMP_NUM_TEAMS nothing bounds the teams of a device; the query returns 0.
#include "../../check.h"
int main(void) {
  int bound = -1, made = 0;
#pragma omp target map(from : bound)
  bound = omp_get_max_teams();
#pragma omp target teams map(tofrom : made)
  if (omp_get_team_num() == 0) made = omp_get_num_teams();
  CHECK(bound == 0 && made >= 1);
  return DONE();
}
