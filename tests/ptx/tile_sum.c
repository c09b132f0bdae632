/* A sum over tiles.
 * with at -O2: clz.b32
 */
double rest(double *restrict b, const double *restrict a, int n, int m) {
  double all = 0;
#pragma omp target teams distribute parallel for collapse(2) reduction(+ : all) map(to : a[ : n * m]) map(tofrom : b[ : n * m])
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      double next = a[(i - 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1] + a[(i + 1) * m + j];
      all += next - a[i * m + j];
      b[i * m + j] = next;
    }
  return all;
}
int main(void) { return 0; }
