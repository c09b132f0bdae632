// OpenMP 5.2, section 15.8: teams see each other's atomic updates.
#include "../../check.h"
int main(void) {
  int count = 0, order[8] = {0};
#pragma omp target teams num_teams(8) thread_limit(1) map(tofrom : count, order)
  {
    int mine;
#pragma omp atomic capture
    mine = count++;
    order[mine & 7] = omp_get_team_num() + 1;
  }
  int seen = 0;
  for (int i = 0; i < count; i++) seen |= 1 << (order[i] - 1);
  CHECK(count >= 1 && count <= 8 && seen == (1 << count) - 1);
  return DONE();
}
