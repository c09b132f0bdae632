// SAXPY, a typical first program.
#include "../../check.h"
static void saxpy(int n, float a, const float *x, float *y) {
#pragma omp target teams distribute parallel for map(to : x[0 : n]) map(tofrom : y[0 : n])
  for (int i = 0; i < n; i++) y[i] += a * x[i];
}
int main(void) {
  int n = 5000;
  float *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
  for (int i = 0; i < n; i++) x[i] = i, y[i] = 1;
  saxpy(n, 2, x, y);
  for (int i = 0; i < n; i++) CHECK(y[i] == 1 + 2.0f * i);
  free(x);
  free(y);
  return DONE();
}
