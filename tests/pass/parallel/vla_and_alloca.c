// OpenMP 5.2, section 10.1: arrays of run-time size captured from outside and made inside a region.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static void run(int n, int m) {
  double grid[n][m];
#pragma omp parallel num_threads(3)
  {
    int local[n];
    for (int i = 0; i < n; i++) local[i] = i;
#pragma omp for
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) grid[i][j] = local[i] * 100 + j;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) CHECK(grid[i][j] == i * 100 + j);
}
int main(void) {
  run(1, 1); run(7, 13); run(40, 3);
  return DONE();
}
