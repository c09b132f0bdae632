// OpenMP 5.2, sections 13.6 and 13.7: unstructured mapping in separate functions.
#include "../../check.h"
static void begin(float *p, int n) {
#pragma omp target enter data map(to : p[0 : n])
}
static void end(float *p, int n) {
#pragma omp target exit data map(from : p[0 : n])
}
int main(void) {
  int n = 300;
  float *p = malloc(n * sizeof *p);
  for (int i = 0; i < n; i++) p[i] = i;
  begin(p, n);
#pragma omp target parallel for
  for (int i = 0; i < n; i++) p[i] = p[i] * p[i];
  CHECK(p[3] == 3);
  end(p, n);
  for (int i = 0; i < n; i++) CHECK(p[i] == (float)i * i);
  free(p);
  return DONE();
}
