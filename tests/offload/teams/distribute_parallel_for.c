// OpenMP 5.2, section 17: the combined construct with schedules and collapse.
#include "../../check.h"
int main(void) {
  enum { N = 40, M = 30 };
  static int a[N][M], b[N * M], c[N * M];
#pragma omp target teams distribute parallel for collapse(2) map(tofrom : a)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) a[i][j] += i * M + j;
#pragma omp target teams distribute parallel for schedule(static, 7) map(tofrom : b)
  for (int i = 0; i < N * M; i++) b[i] += i;
#pragma omp target teams distribute parallel for dist_schedule(static, 16) num_teams(3) thread_limit(64) map(tofrom : c)
  for (int i = N * M - 1; i >= 0; i--) c[i] += i;
  for (int i = 0; i < N * M; i++) CHECK(a[i / M][i % M] == i && b[i] == i && c[i] == i);
  return DONE();
}
