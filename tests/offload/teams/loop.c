// OpenMP 5.2, section 11.7: target teams loop.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  enum { N = 777 };
  static double x[N], y[N];
  for (int i = 0; i < N; i++) x[i] = i, y[i] = 1;
#pragma omp target teams loop map(to : x) map(tofrom : y)
  for (int i = 0; i < N; i++) y[i] += 2 * x[i];
  for (int i = 0; i < N; i++) CHECK(y[i] == 1 + 2.0 * i);
  return DONE();
}
