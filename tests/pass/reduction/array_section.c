// OpenMP 5.2, section 5.5.8: array sections of a pointer, of constant and run-time length, and in two dimensions.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static void run(double *v, int from, int n) {
  double grid[3][4] = {{0}};
#pragma omp parallel for num_threads(4) reduction(+ : v[from : n]) reduction(max : grid[1 : 2][0 : 4])
  for (int i = 0; i < 300; i++) {
    v[from + i % n] += i;
    double *cell = &grid[1 + i % 2][i % 4];
    if (i > *cell) *cell = i;
  }
  double all = 0;
  for (int i = 0; i < 20; i++) all += v[i];
  CHECK(all == 299 * 150 + 20 * 0.5 && v[0] == 0.5 && v[19] == 0.5);
  CHECK(grid[0][0] == 0 && grid[1][0] == 296 && grid[2][1] == 297 && grid[1][2] == 298 && grid[2][3] == 299 && grid[1][1] == 0);
}
int main(void) {
  double v[20];
  for (int n = 1; n <= 17; n += 8) {
    for (int i = 0; i < 20; i++) v[i] = 0.5;
    run(v, 1, n);
  }
  return DONE();
}
