// OpenMP 5.2, section 10.2, and libomp's KMP_TEAMS_PROC_BIND, spread where not given: each team of a league has its own part of the places.
// env: OMP_PLACES=threads OMP_PROC_BIND=close
// stdout: ok
#include "../../check.h"
int main(void) {
  int places = omp_get_num_places(), first[64], count[64], inner[64];
  if (places > 64)
    places = 64;
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < places; i++)
      first[i] = count[i] = inner[i] = -1;
#pragma omp teams num_teams(places)
    {
      int team = omp_get_team_num(), nums[1024];
      count[team] = omp_get_partition_num_places();
      omp_get_partition_place_nums(nums);
      first[team] = nums[0];
#pragma omp parallel num_threads(1)
      inner[team] = omp_get_place_num();
    }
    for (int i = 0; i < places; i++) {
      if (omp_get_num_places() == places)
        CHECK(count[i] == 1 && first[i] == (first[0] + i) % places);
      CHECK(inner[i] >= 0);
    }
  }
  return DONE();
}
