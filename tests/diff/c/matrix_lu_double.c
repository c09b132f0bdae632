// LU factorization, Gauss-Seidel and power iteration in double: floats compared by bits of exactly ordered operations.
#include <stdio.h>
#define N 16
static double m[N][N], b[N], x[N];
int main(void) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) m[i][j] = (i * 7 + j * 3) % 11 - 5;
    m[i][i] += 40;
    b[i] = i - 3.5;
  }
  double g[N] = {0};
  for (int it = 0; it < 30; it++)
    for (int i = 0; i < N; i++) {
      double s = b[i];
      for (int j = 0; j < N; j++)
        if (j != i) s -= m[i][j] * g[j];
      g[i] = s / m[i][i];
    }
  double det = 1;
  for (int k = 0; k < N; k++) {
    det *= m[k][k] / 40;
    for (int i = k + 1; i < N; i++) {
      double f = m[i][k] /= m[k][k];
      for (int j = k + 1; j < N; j++) m[i][j] -= f * m[k][j];
    }
  }
  for (int i = 0; i < N; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++) x[i] -= m[i][j] * x[j];
  }
  for (int i = N - 1; i >= 0; i--) {
    for (int j = i + 1; j < N; j++) x[i] -= m[i][j] * x[j];
    x[i] /= m[i][i];
  }
  double d = 0;
  for (int i = 0; i < N; i++) d += (x[i] - g[i]) * (x[i] - g[i]);
  printf("%a %a %a %d\n", det, x[0], x[N - 1], d < 1e-20);
  return 0;
}
