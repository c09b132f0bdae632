/* A body that does not profit from tiles gets none.
 * without: clz.b32
 */
void plain(float *restrict b, const float *restrict a, int n, int m) {
#pragma omp target teams distribute parallel for collapse(2) map(from : b[ : n * m]) map(to : a[ : n * m])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      b[i * m + j] = 2 * a[i * m + j] + 1;
}
int main(void) { return 0; }
