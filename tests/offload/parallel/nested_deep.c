// OpenMP 5.2, section 10.1: regions within regions of a distributed loop, each with worksharing, reductions and locals.
#include "../../check.h"
int main(void) {
  enum { N = 20, M = 30 };
  int a[N];
#pragma omp target teams distribute map(from : a) num_teams(4)
  for (int i = 0; i < N; i++) {
    int sum = 0, base = i * 100;
#pragma omp parallel for reduction(+ : sum)
    for (int j = 0; j < M; j++) {
      int inner = 0;
#pragma omp parallel for reduction(+ : inner)
      for (int k = 0; k < 3; k++) inner += base + j + k;
      sum += inner;
    }
    a[i] = sum;
  }
  for (int i = 0; i < N; i++) {
    int want = 0;
    for (int j = 0; j < M; j++)
      for (int k = 0; k < 3; k++) want += i * 100 + j + k;
    CHECK(a[i] == want);
  }
  return DONE();
}
