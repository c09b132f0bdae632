/* With three indices a block iterates over planes.
 * with at -O2: clz.b32
 */
void planes(double *restrict b, const double *restrict a, int l, int n, int m) {
#pragma omp target teams distribute parallel for collapse(3) map(tofrom : b[ : l * n * m]) map(to : a[ : l * n * m])
  for (int k = 1; k < l - 1; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) {
        long at = ((long)k * n + i) * m + j;
        b[at] = a[at - (long)n * m] + a[at] + a[at + (long)n * m];
      }
}
int main(void) { return 0; }
