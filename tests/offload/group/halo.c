// Several devices as one: neighbors' elements, changes by the host between regions, parts that are updated.
// options: --device=emulated:3 --devices=all
// env: OMP_TARGET_OFFLOAD=mandatory
#include "../../check.h"
#include <stdlib.h>
#include <string.h>
enum { N = 5003, M = 37 };
static void step(int n, const double *from, double *to) {
#pragma omp target teams distribute parallel for map(to : from[ : n]) map(tofrom : to[ : n])
  for (int i = 1; i < n - 1; i++)
    to[i] = from[i - 1] + 2 * from[i] - from[i + 1];
}
// Not by bytes: a device's multiply-add may give a zero of the other sign.
static int same(const double *a, const double *b, int n) {
  for (int i = 0; i < n; i++)
    if (a[i] != b[i])
      return 0;
  return 1;
}
static void host_step(int n, const double *from, double *to) {
  for (int i = 1; i < n - 1; i++)
    to[i] = from[i - 1] + 2 * from[i] - from[i + 1];
}
int main(void) {
  double *a = malloc(sizeof(double) * N), *b = malloc(sizeof(double) * N);
  double *x = malloc(sizeof(double) * N), *y = malloc(sizeof(double) * N);
  for (int i = 0; i < N; i++)
    a[i] = x[i] = i % 17, b[i] = y[i] = 0;
#pragma omp target data map(tofrom : a[ : N]) map(to : b[ : N])
  for (int s = 0; s < 6; s++) {
    step(N, a, b), host_step(N, x, y);
    step(N, b, a), host_step(N, y, x);
    if (s % 2) {
      // Updates that lie in one part, in two, and in all.
      int first = s * 700, count = s * 299;
#pragma omp target update from(a[first : count])
      CHECK(same(a + first, x + first, count));
      for (int i = first; i < first + count; i++)
        a[i] = x[i] = i % 5;
#pragma omp target update to(a[first : count])
    }
  }
  CHECK(same(a, x, N));
  // Two dimensions, with bounds that do not begin at 0 and steps of other sizes.
  static int grid[M][M], expected[M][M];
#pragma omp target teams distribute parallel for collapse(2) map(tofrom : grid)
  for (int i = M - 2; i >= 3; i -= 2)
    for (int j = 5; j < M; j += 3)
      grid[i][j] += i * 100 + j;
  for (int i = M - 2; i >= 3; i -= 2)
    for (int j = 5; j < M; j += 3)
      expected[i][j] += i * 100 + j;
  CHECK(memcmp(grid, expected, sizeof grid) == 0);
  return DONE();
}
