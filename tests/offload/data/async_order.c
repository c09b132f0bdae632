// OpenMP 5.2, section 13.8: many regions without waiting, each on its own data.
#include "../../check.h"
int main(void) {
  enum { N = 16 };
  static int v[N][64];
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int k = 0; k < N; k++) {
#pragma omp target nowait map(tofrom : v[k]) firstprivate(k)
    for (int i = 0; i < 64; i++) v[k][i] = k * 64 + i;
  }
  for (int k = 0; k < N; k++)
    for (int i = 0; i < 64; i++) CHECK(v[k][i] == k * 64 + i);
  return DONE();
}
