// OpenMP 5.2, section 5.8.3: an array of pointers, each row mapped and attached by itself.
#include "../../check.h"
int main(void) {
  enum { N = 5, M = 8 };
  int **rows = malloc(N * sizeof *rows);
  for (int i = 0; i < N; i++) {
    rows[i] = malloc(M * sizeof **rows);
    for (int j = 0; j < M; j++) rows[i][j] = i * M + j;
  }
#pragma omp target enter data map(to : rows[0 : N])
  for (int i = 0; i < N; i++) {
#pragma omp target enter data map(to : rows[i][0 : M])
  }
#pragma omp target
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) rows[i][j] += 1000;
  for (int i = 0; i < N; i++) {
#pragma omp target exit data map(from : rows[i][0 : M])
  }
#pragma omp target exit data map(delete : rows[0 : N])
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < M; j++) CHECK(rows[i][j] == 1000 + i * M + j);
    free(rows[i]);
  }
  free(rows);
  return DONE();
}
