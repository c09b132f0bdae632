/* A loop with lastprivate keeps its order.
 * without: clz.b32
 */
float last(const float *restrict a, float *restrict b, int n, int m) {
  float value = 0;
#pragma omp target teams distribute parallel for collapse(2) lastprivate(value) map(tofrom : value) map(tofrom : b[ : n * m]) map(to : a[ : n * m])
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      value = a[(i - 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1] + a[(i + 1) * m + j];
      b[i * m + j] = value;
    }
  return value;
}
int main(void) { return 0; }
