// OpenMP 5.2, sections 9.1 and 9.2: tiled and unrolled loops within a region of the device.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  enum { N = 37 };
  int a[N][N], sum = 0;
#pragma omp target teams distribute parallel for map(from : a)
#pragma omp tile sizes(4)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = i - j;
#pragma omp target parallel for reduction(+ : sum) map(to : a)
#pragma omp unroll partial(4)
  for (int i = 0; i < N; i++) sum += a[i][0];
  CHECK(sum == N * (N - 1) / 2);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) CHECK(a[i][j] == i - j);
  return DONE();
}
