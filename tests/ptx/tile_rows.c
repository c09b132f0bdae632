/* A body that reads adjacent rows gets tiles of rows: it reads the block's size as a power of two.
 * with at -O2: clz.b32
 */
void rows(float *restrict b, const float *restrict a, int n, int m) {
#pragma omp target teams distribute parallel for collapse(2) map(tofrom : b[ : n * m]) map(to : a[ : n * m])
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      b[i * m + j] = a[(i - 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1] + a[(i + 1) * m + j];
}
int main(void) { return 0; }
