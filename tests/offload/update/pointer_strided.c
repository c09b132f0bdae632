// OpenMP 5.2, sections 3.2.5 and 13.9: strided sections through a pointer, from an element other than the first.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  enum { N = 30 };
  int *p = calloc(N, sizeof *p), wrong = 0;
#pragma omp target enter data map(to : p[0 : N])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; i++) p[i] = i + 1;
#pragma omp target update from(p[0 : 10 : 3])
  for (int i = 0; i < N; i++) CHECK(p[i] == (i % 3 == 0 ? i + 1 : 0));
#pragma omp target update from(p[1 : 4 : 2])
  for (int i = 0; i < N; i++) CHECK(p[i] == (i % 3 == 0 || (i % 2 == 1 && i < 8) ? i + 1 : 0));
  for (int i = 0; i < N; i++) p[i] = -1;
#pragma omp target update to(p[5 : 5 : 5])
#pragma omp target map(tofrom : wrong)
  for (int i = 0; i < N; i++) wrong += p[i] != (i >= 5 && i % 5 == 0 ? -1 : i + 1);
  CHECK(wrong == 0);
#pragma omp target exit data map(delete : p[0 : N])
  free(p);
  return DONE();
}
