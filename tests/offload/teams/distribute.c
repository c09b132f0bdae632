// OpenMP 5.2, sections 10.2 and 11.6: teams distribute, each iteration once.
#include "../../check.h"
int main(void) {
  enum { N = 1000 };
  int v[N], teams = 0, host = 1;
  for (int i = 0; i < N; i++) v[i] = 0;
#pragma omp target teams distribute map(tofrom : v) map(from : teams, host)
  for (int i = 0; i < N; i++) {
    v[i] += i + 1;
    if (i == 0) teams = omp_get_num_teams(), host = omp_is_initial_device();
  }
  CHECK(!host && teams >= 1);
  for (int i = 0; i < N; i++) CHECK(v[i] == i + 1);
  return DONE();
}
