// OpenMP 5.2, section 4.4.2: nests whose inner bounds depend on the outer variable, collapsed.
#include "../../check.h"
int main(void) {
  enum { N = 30 };
  int a[N][N], count = 0;
  for (int i = 0; i < N * N; i++) a[0][i] = 0;
#pragma omp target parallel for collapse(2) map(tofrom : a) reduction(+ : count)
  for (int i = 0; i < N; i++)
    for (int j = i; j < N; j++) a[i][j]++, count++;
#pragma omp target teams distribute parallel for collapse(2) map(tofrom : a) reduction(+ : count)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < i; j++) a[i][j] += 5, count++;
  CHECK(count == N * N);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) CHECK(a[i][j] == (j >= i ? 1 : 5));
  return DONE();
}
