// OpenMP 5.2, section 11.7: the loop construct bound to teams, to a parallel region and to a thread, with collapse,
// and with a reduction.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  enum { N = 48 };
  int a[N][N], sum = 0, last = -1;
#pragma omp target teams loop collapse(2) map(from : a)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = i * N + j;
#pragma omp target parallel loop reduction(+ : sum) map(to : a) map(tofrom : sum)
  for (int i = 0; i < N; i++) sum += a[i][i];
  CHECK(sum == (N + 1) * (N * (N - 1) / 2));
#pragma omp target teams distribute parallel for map(tofrom : a)
  for (int i = 0; i < N; i++) {
#pragma omp loop bind(thread)
    for (int j = 0; j < N; j++) a[i][j] += 1;
  }
#pragma omp target parallel map(tofrom : a, last)
  {
#pragma omp loop bind(parallel)
    for (int i = 0; i < N; i++)
      if (i == N - 1) last = a[i][0];
  }
  for (int i = 0; i < N * N; i++) CHECK(a[0][i] == i + 1);
  CHECK(last == (N - 1) * N + 1);
  return DONE();
}
