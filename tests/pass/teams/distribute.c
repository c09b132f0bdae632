// OpenMP 5.2, section 11.6: distribute over the teams, alone and with parallel for and reductions.
// stdout: ok
// levels: O0 O2
// optional: teams on the host
#include "../../check.h"
int main(void) {
  int hits[200] = {0}, sum = 0;
#pragma omp teams num_teams(2) thread_limit(2)
#pragma omp distribute dist_schedule(static, 7)
  for (int i = 0; i < 200; i++) hits[i]++;
#pragma omp teams distribute parallel for num_teams(2) thread_limit(2) reduction(+ : sum)
  for (int i = 0; i < 200; i++) sum += hits[i] * i;
  CHECK(sum == 19900);
  return DONE();
}
