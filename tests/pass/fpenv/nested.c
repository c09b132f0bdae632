// parallel, nested: the members of an inner region begin with the environment of the member that forks it.
// flags: -lm
// levels: O0 O2
// stdout: inner 6 outer 3
// stdout: league 2 of 2
#include "../../check.h"
#include <fenv.h>
#include <omp.h>

static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

int main(void) {
  int inner = 0, outer = 0, league = 0, teams = 0;
  omp_set_max_active_levels(2);
  for (int round = 0; round < 2; round++) {
    inner = outer = 0;
#pragma omp parallel num_threads(3) reduction(+ : inner, outer)
    {
      int mine = modes[(omp_get_thread_num() + round) % 3];
      fesetround(mine);
#pragma omp parallel num_threads(2) reduction(+ : inner)
      {
        inner += fegetround() == mine;
        fesetround(FE_TONEAREST);
      }
      outer += fegetround() == mine;
    }
  }
  printf("inner %d outer %d\n", inner, outer);
  fesetround(FE_DOWNWARD);
#pragma omp teams num_teams(2) reduction(+ : league, teams)
  {
    teams++;
    league += fegetround() == FE_DOWNWARD;
  }
  fesetround(FE_TONEAREST);
  printf("league %d of %d\n", league + (2 - teams), 2);
}
