/* Loops with an explicit schedule, and two loops that share their teams, keep their order.
 * without: clz.b32
 */
void scheduled(const float *restrict a, float *restrict b, int n, int m) {
#pragma omp target teams distribute parallel for collapse(2) dist_schedule(static, 64) map(tofrom : b[ : n * m]) map(to : a[ : n * m])
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      b[i * m + j] = a[(i - 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1] + a[(i + 1) * m + j];
#pragma omp target teams map(tofrom : b[ : n * m]) map(to : a[ : n * m])
  {
#pragma omp distribute parallel for collapse(2)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        b[i * m + j] = a[(i - 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1] + a[(i + 1) * m + j];
#pragma omp distribute parallel for collapse(2)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        b[i * m + j] += a[(i - 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1] + a[(i + 1) * m + j];
  }
}
int main(void) { return 0; }
