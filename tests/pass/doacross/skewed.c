// OpenMP 5.2, section 15.9.6: dependences on iterations outside of the nest are ignored, before its begin and
// beyond the end of an inner loop.
// stdout: ok
// levels: O0 O2
// native: libomp waits without end for the iteration beyond the end
#include "../../check.h"
#define N 12
static long a[N][N], b[N][N];
int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) b[i][j] = 1 + (i && j < N - 1 ? b[i - 1][j + 1] : 0) + (i && j > 1 ? b[i - 1][j - 2] : 0);
#pragma omp parallel for ordered(2) schedule(static, 1)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
#pragma omp ordered depend(sink : i - 1, j + 1) depend(sink : i - 1, j - 2)
      a[i][j] = 1 + (i && j < N - 1 ? a[i - 1][j + 1] : 0) + (i && j > 1 ? a[i - 1][j - 2] : 0);
#pragma omp ordered depend(source)
    }
  CHECK(memcmp(a, b, sizeof a) == 0);
  return DONE();
}
