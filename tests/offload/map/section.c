// OpenMP 5.2, section 5.8.3: array sections through a pointer; elements outside do not change.
#include "../../check.h"
int main(void) {
  int n = 100, *p = malloc(n * sizeof *p), host = 1;
  for (int i = 0; i < n; i++) p[i] = i;
#pragma omp target map(tofrom : p[10 : 20]) map(from : host)
  {
    host = omp_is_initial_device();
    for (int i = 10; i < 30; i++) p[i] = -i;
  }
  CHECK(!host);
  for (int i = 0; i < n; i++) CHECK(p[i] == (i >= 10 && i < 30 ? -i : i));
  free(p);
  return DONE();
}
