// OpenMP 5.2, section 5.8.8: an array of objects with a mapper: a deep copy of each.
// flags: -fopenmp-version=50
#include "../../check.h"
typedef struct { int n; double *data; } V;
#pragma omp declare mapper(V v) map(v, v.data[0 : v.n])
int main(void) {
  enum { N = 6 };
  V v[N];
  for (int k = 0; k < N; k++) {
    v[k].n = k + 1, v[k].data = malloc((k + 1) * sizeof(double));
    for (int i = 0; i <= k; i++) v[k].data[i] = 10 * k + i;
  }
#pragma omp target map(tofrom : v[0 : N])
  for (int k = 0; k < N; k++)
    for (int i = 0; i < v[k].n; i++) v[k].data[i] *= 2;
  for (int k = 0; k < N; k++) {
    for (int i = 0; i <= k; i++) CHECK(v[k].data[i] == 2 * (10 * k + i));
    free(v[k].data);
  }
  return DONE();
}
