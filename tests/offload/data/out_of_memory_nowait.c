// A device without memory among nowait regions: each has the right result, no matter where it ran.
// env: OMPVM_EMULATED_MEMORY=4M
#include "../../check.h"
int main(void) {
  enum { N = 400000, K = 6 };
  static int v[K][N];
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int k = 0; k < K; k++) {
    for (int i = 0; i < N; i++) v[k][i] = i;
#pragma omp target teams distribute parallel for nowait map(tofrom : v[k])
    for (int i = 0; i < N; i++) v[k][i] += k;
  }
  for (int k = 0; k < K; k++)
    for (int i = 0; i < N; i += 1000) CHECK(v[k][i] == i + k);
  return DONE();
}
