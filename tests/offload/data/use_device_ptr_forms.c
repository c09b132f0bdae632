// OpenMP 5.2, sections 5.4.8 and 13.5: use_device_ptr and use_device_addr of mapped data, of a member and of unmapped data.
// flags: -fopenmp-version=51
#include "../../check.h"
struct holder { int n, *p; };
int main(void) {
  int v[6] = {1, 2, 3, 4, 5, 6}, other[4], *p = v, *q = other, d = omp_get_default_device();
  struct holder h = {6, v};
#pragma omp target data map(tofrom : v)
  {
    int *seen = NULL, *unmapped = NULL, *address = NULL;
#pragma omp target data use_device_ptr(p, q)
    seen = p, unmapped = q;
    CHECK(seen != v && seen == omp_get_mapped_ptr(v, d));
    CHECK(unmapped == other); // not mapped: unchanged
    CHECK(p == v);
#pragma omp target data use_device_addr(v)
    address = v;
    CHECK(address == seen);
#pragma omp target data map(to : h, h.p[0 : 6])
    CHECK(h.p == v); // the host's member stays the host's
#pragma omp target is_device_ptr(seen)
    seen[5] = 60;
  }
  CHECK(v[5] == 60);
  return DONE();
}
