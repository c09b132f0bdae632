// A matrix product with tiles in team memory.
#include "../../check.h"
int main(void) {
  enum { N = 32, T = 8 };
  static double a[N][N], b[N][N], c[N][N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = i + j, b[i][j] = i - j;
#pragma omp target teams distribute collapse(2) thread_limit(64) map(to : a, b) map(from : c)
  for (int I = 0; I < N; I += T)
    for (int J = 0; J < N; J += T) {
      double tile[T][T];
#pragma omp parallel for collapse(2)
      for (int i = 0; i < T; i++)
        for (int j = 0; j < T; j++) {
          tile[i][j] = 0;
          for (int k = 0; k < N; k++) tile[i][j] += a[I + i][k] * b[k][J + j];
        }
#pragma omp parallel for collapse(2)
      for (int i = 0; i < T; i++)
        for (int j = 0; j < T; j++) c[I + i][J + j] = tile[i][j];
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double s = 0;
      for (int k = 0; k < N; k++) s += a[i][k] * b[k][j];
      CHECK(c[i][j] == s);
    }
  return DONE();
}
