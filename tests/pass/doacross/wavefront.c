// OpenMP 5.2, section 15.9.6: a nest of two and of three loops, in which iterations wait for their neighbors.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#define N 24
static long a[N][N], b[N][N], c[6][7][8];
int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) b[i][j] = i && j ? b[i - 1][j] + 3 * b[i][j - 1] % 1000003 : 1;
  for (int round = 0; round < 3; round++) {
    memset(a, 0, sizeof a);
#pragma omp parallel
    {
#pragma omp for ordered(2) schedule(static, 1)
      for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
          a[i][j] = i && j ? a[i - 1][j] + 3 * a[i][j - 1] % 1000003 : 1;
#pragma omp ordered depend(source)
        }
    }
    CHECK(memcmp(a, b, sizeof a) == 0);
  }
#pragma omp parallel for ordered(3) collapse(2) schedule(dynamic, 1)
  for (int i = 0; i < 6; i++)
    for (int j = 6; j >= 0; j--)
      for (int k = 0; k < 16; k += 2) {
#pragma omp ordered depend(sink : i - 1, j, k) depend(sink : i, j + 1, k)
        c[i][j][k / 2] = (i ? c[i - 1][j][k / 2] : 0) + (j < 6 ? c[i][j + 1][k / 2] : 1);
#pragma omp ordered depend(source)
      }
  CHECK(c[0][0][0] == 1 && c[1][0][3] == 8 && c[5][0][7] == 792);
  return DONE();
}
