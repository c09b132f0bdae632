// OpenMP 5.2, section 5.8.3: arrays of two dimensions, whole, by rows, and as variable-length arrays.
#include "../../check.h"
int main(void) {
  int a[6][5], n = 4, m = 7, host = 1;
  int b[n][m];
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 5; j++) a[i][j] = 10 * i + j;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) b[i][j] = i - j;
#pragma omp target map(tofrom : a[1 : 3][0 : 5], b) map(from : host)
  {
    host = omp_is_initial_device();
    for (int j = 0; j < 5; j++) a[2][j]++;
    for (int i = 0; i < n; i++) b[i][m - 1] = 77;
  }
  CHECK(!host);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 5; j++) CHECK(a[i][j] == 10 * i + j + (i == 2));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) CHECK(b[i][j] == (j == m - 1 ? 77 : i - j));
  return DONE();
}
