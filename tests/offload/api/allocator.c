// OpenMP 5.2, section 6.8: omp_alloc in a region.
#include "../../check.h"
int main(void) {
  int r = 0;
#pragma omp target map(from : r)
  {
    int *p = omp_alloc(8 * sizeof *p, omp_default_mem_alloc);
    for (int i = 0; i < 8; i++) p[i] = i;
    r = p[7] + p[1];
    omp_free(p, omp_default_mem_alloc);
  }
  CHECK(r == 8);
  return DONE();
}
