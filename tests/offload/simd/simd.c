// OpenMP 5.2, section 10.4: simd constructs in regions.
#include "../../check.h"
int main(void) {
  enum { N = 333 };
  static float x[N], y[N];
  int last = -1;
  for (int i = 0; i < N; i++) x[i] = i, y[i] = 2;
#pragma omp target teams distribute parallel for simd map(to : x) map(tofrom : y)
  for (int i = 0; i < N; i++) y[i] += x[i];
#pragma omp target simd map(tofrom : y) safelen(8)
  for (int i = 0; i < N; i++) y[i] *= 2;
#pragma omp target parallel for simd lastprivate(last) map(tofrom : y, last)
  for (int i = 0; i < N; i++) last = i, y[i] += 1;
  for (int i = 0; i < N; i++) CHECK(y[i] == 2.0f * (2 + i) + 1);
  CHECK(last == N - 1);
  return DONE();
}
