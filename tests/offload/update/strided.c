// OpenMP 5.2, section 13.9: non-contiguous sections.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  enum { N = 6, M = 8 };
  int a[N][M];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) a[i][j] = 0;
#pragma omp target data map(to : a)
  {
#pragma omp target
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++) a[i][j] = 10 * i + j + 1;
#pragma omp target update from(a[1 : 3][2 : 4])
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++) {
        int in = i >= 1 && i < 4 && j >= 2 && j < 6;
        CHECK(a[i][j] == (in ? 10 * i + j + 1 : 0));
      }
#pragma omp target update from(a[0 : 3 : 2][0 : 4 : 2])
    CHECK(a[0][0] == 1 && a[0][1] == 0 && a[0][2] == 3 && a[2][6] == 27 && a[4][4] == 45 && a[5][0] == 0);
  }
  return DONE();
}
