// Loops over the numbers of teams, of which each device has some, and reductions among them.
// options: --device=emulated:3 --devices=all
// env: OMP_TARGET_OFFLOAD=mandatory
// env: OMPVM_EMULATED_LINKS=off
#include "../../check.h"
#include <omp.h>
enum { N = 517, TURNS = 9 };
static int a[N], b[N];
int main(void) {
  for (int i = 0; i < N; i++)
    a[i] = i % 31, b[i] = i % 17;
  long total = 0, expected = 0, sum = 0, most = 0;
#pragma omp target data map(tofrom : a, b, sum, most)
  for (int t = 0; t < TURNS; t++) {
    // Neighbouring iterations belong to different teams.
#pragma omp target teams num_teams(7 + t)
    for (int i = omp_get_team_num(); i < N; i += omp_get_num_teams())
      a[i] += b[(i * 5 + t) % N];
    // Each team has a range.
#pragma omp target teams num_teams(9)
    {
      int team = omp_get_team_num(), teams = omp_get_num_teams();
      for (int i = team * N / teams; i < (team + 1) * N / teams; i++)
        b[i] = (a[i] + t) % 101;
    }
#pragma omp target teams distribute parallel for reduction(+ : total) map(tofrom : total)
    for (int i = 0; i < N; i++)
      total += a[i] * (long)b[i];
    // The results stay on the devices, and are read there.
#pragma omp target teams distribute parallel for reduction(+ : sum)
    for (int i = 0; i < N; i++)
      sum += a[i];
#pragma omp target teams distribute parallel for reduction(max : most) num_teams(5)
    for (int i = 0; i < N; i++)
      most = most > a[i] + t ? most : a[i] + t;
#pragma omp target teams distribute parallel for map(to : sum, most)
    for (int i = 0; i < N; i++)
      a[i] += (sum + most + i) % 7;
  }
  static int x[N], y[N];
  long s = 0, m = 0;
  for (int i = 0; i < N; i++)
    x[i] = i % 31, y[i] = i % 17;
  for (int t = 0; t < TURNS; t++) {
    for (int i = 0; i < N; i++)
      x[i] += y[(i * 5 + t) % N];
    for (int i = 0; i < N; i++)
      y[i] = (x[i] + t) % 101;
    for (int i = 0; i < N; i++)
      expected += x[i] * (long)y[i], s += x[i];
    for (int i = 0; i < N; i++)
      m = m > x[i] + t ? m : x[i] + t;
    for (int i = 0; i < N; i++)
      x[i] += (s + m + i) % 7;
  }
  for (int i = 0; i < N; i++)
    CHECK(a[i] == x[i] && b[i] == y[i]);
  CHECK(total == expected && sum == s && most == m);
  return 0;
}
