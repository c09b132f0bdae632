// OpenMP 5.2, section 5.8.3: a structure with a pointer, mapped for several regions and updated.
#include "../../check.h"
struct V { int n; double *x, *y; };
int main(void) {
  int n = 64;
  struct V v = {n, malloc(n * sizeof(double)), malloc(n * sizeof(double))};
  for (int i = 0; i < n; i++) v.x[i] = i, v.y[i] = 1;
#pragma omp target enter data map(to : v, v.x[0 : n], v.y[0 : n])
  for (int k = 0; k < 3; k++) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) v.y[i] += v.x[i];
  }
#pragma omp target update from(v.y[0 : n])
  for (int i = 0; i < n; i++) CHECK(v.y[i] == 1 + 3 * i);
  for (int i = 0; i < n; i++) v.x[i] = 0.5;
#pragma omp target update to(v.x[0 : n])
#pragma omp target
  for (int i = 0; i < n; i++) v.y[i] = v.x[i];
#pragma omp target exit data map(from : v.y[0 : n]) map(release : v.x[0 : n], v)
  for (int i = 0; i < n; i++) CHECK(v.y[i] == 0.5);
  free(v.x);
  free(v.y);
  return DONE();
}
