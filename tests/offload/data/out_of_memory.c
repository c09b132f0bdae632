// A device without memory: the data is copied back, and this and later regions run on the host.
// env: OMPVM_EMULATED_MEMORY=8M
// not-on: processors
#include "../../check.h"
int main(void) {
  int n = 4000000, *p = malloc(n * sizeof *p), v[10], host = -1;
  for (int i = 0; i < 10; i++) v[i] = i;
#pragma omp target enter data map(to : v)
#pragma omp target map(tofrom : v) map(from : host)
  v[0] = 100, host = omp_is_initial_device();
  CHECK(host == 0);
#pragma omp target map(tofrom : p[0 : n], v) map(from : host)
  {
    for (int i = 0; i < n; i++) p[i] = i;
    v[1] = v[0] + 1;
    host = omp_is_initial_device();
  }
  CHECK(host == 1 && p[n - 1] == n - 1 && v[0] == 100 && v[1] == 101);
#pragma omp target exit data map(from : v)
  CHECK(v[1] == 101);
  free(p);
  return DONE();
}
