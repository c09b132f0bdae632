// OpenMP 5.2, section 5.4.8: use_device_ptr and is_device_ptr.
#include "../../check.h"
int main(void) {
  int n = 50, *p = malloc(n * sizeof *p), *host = p;
  for (int i = 0; i < n; i++) p[i] = i;
#pragma omp target data map(tofrom : p[0 : n]) use_device_ptr(p)
  {
    CHECK(p != host);
    CHECK(p == omp_get_mapped_ptr(host, omp_get_default_device()));
#pragma omp target is_device_ptr(p)
    for (int i = 0; i < n; i++) p[i] += 7;
  }
  for (int i = 0; i < n; i++) CHECK(p[i] == i + 7);
  free(p);
  return DONE();
}
