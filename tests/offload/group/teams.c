// Several devices as one: one league, whose teams have distinct numbers and share reductions and atomics.
// options: --device=emulated:3 --devices=all
// env: OMP_TARGET_OFFLOAD=mandatory
#include "../../check.h"
enum { N = 2500 };
static int seen[64], of[N], threads[64];
int main(void) {
  for (int teams = 1; teams < 40; teams += 6) {
    int count = 0, leagues = 0;
    for (int t = 0; t < 64; t++)
      seen[t] = 0;
#pragma omp target teams num_teams(teams) map(tofrom : seen, count) reduction(max : leagues)
    {
#pragma omp atomic
      seen[omp_get_team_num()]++;
#pragma omp atomic
      count++;
      leagues = omp_get_num_teams();
    }
    CHECK(count == leagues && leagues <= teams);
    for (int t = 0; t < 64; t++)
      CHECK(seen[t] == (t < leagues));
    // Chunks go to teams in turn.
#pragma omp target teams distribute num_teams(teams) dist_schedule(static, 7) map(from : of)
    for (int i = 0; i < N; i++)
      of[i] = omp_get_team_num();
    for (int i = 0; i < N; i++)
      CHECK(of[i] == i / 7 % leagues);
    long sum = 0, product = 1;
    double least = 1e9;
    int all = 1, last = -1;
#pragma omp target teams distribute parallel for num_teams(teams) reduction(+ : sum) reduction(* : product) reduction(min : least) reduction(&& : all)
    for (int i = 0; i < N; i++)
      sum += i, product *= i % 1000 == 7 ? 3 : 1, least = i == 1234 ? -2 : least, all = all && i >= 0;
    CHECK(sum == (long)N * (N - 1) / 2 && product == 27 && least == -2 && all == 1);
#pragma omp target teams distribute parallel for num_teams(teams) lastprivate(last) map(tofrom : last)
    for (int i = 0; i < N; i++)
      last = i * 2;
    CHECK(last == 2 * (N - 1));
    long bins[11] = {0};
#pragma omp target teams distribute parallel for num_teams(teams) reduction(+ : bins)
    for (int i = 0; i < N; i++)
      bins[i % 11] += i;
    for (int b = 0; b < 11; b++) {
      long want = 0;
      for (int i = b; i < N; i += 11)
        want += i;
      CHECK(bins[b] == want);
    }
  }
  // Loops with few iterations, and with none.
  for (int n = 0; n < 6; n++) {
    int sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
      sum += i + 1;
    CHECK(sum == n * (n + 1) / 2);
  }
  return DONE();
}
