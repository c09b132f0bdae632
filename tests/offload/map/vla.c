// OpenMP 5.2, section 5.8: arrays of run-time length, implicitly and by section, also as a function's parameter.
#include "../../check.h"
static long sum(int n, int m, int a[n][m]) {
  long s = 0;
#pragma omp target teams distribute parallel for collapse(2) reduction(+ : s) map(to : a[0 : n][0 : m])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) s += a[i][j];
  return s;
}
int main(void) {
  int n = 17, m = 23;
  int a[n][m], b[m];
  for (int j = 0; j < m; j++) b[j] = j;
#pragma omp target teams distribute parallel for map(from : a)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i][j] = i * b[j];
  CHECK(sum(n, m, a) == 136L * 253);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) CHECK(a[i][j] == i * j);
  return DONE();
}
