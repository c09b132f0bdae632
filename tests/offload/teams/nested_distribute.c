// OpenMP 5.2, section 11.6: distribute in teams, loops of threads inside, in two nests.
// Teams do not wait for each other: a nest must not touch data that the other wrote.
#include "../../check.h"
int main(void) {
  enum { N = 12, M = 20 };
  static int a[N][M], b[N][M];
#pragma omp target map(tofrom : a, b)
#pragma omp teams
  {
#pragma omp distribute
    for (int i = 0; i < N; i++) {
#pragma omp parallel for
      for (int j = 0; j < M; j++) a[i][j] += i * M + j;
    }
#pragma omp distribute parallel for collapse(2)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++) b[i][j] += 1000 + j;
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) CHECK(a[i][j] == i * M + j && b[i][j] == 1000 + j);
  return DONE();
}
