// OpenMP 5.2, section 18.13: omp_alloc, omp_calloc, omp_realloc and omp_free with the default allocator, from several threads.
// stdout: ok
// levels: O0 O2
// optional: memory allocators
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
#pragma omp parallel num_threads(3)
  for (int i = 1; i < 50; i++) {
    int *p = omp_alloc(i * sizeof(int), omp_default_mem_alloc), *q = omp_calloc(i, sizeof(int), omp_default_mem_alloc);
    for (int k = 0; k < i; k++) { CHECK(q[k] == 0); p[k] = q[k] = k; }
    p = omp_realloc(p, 1000 * sizeof(int), omp_default_mem_alloc, omp_default_mem_alloc);
    for (int k = 0; k < i; k++) CHECK(p[k] == k);
    omp_free(p, omp_default_mem_alloc), omp_free(q, omp_default_mem_alloc);
  }
  return DONE();
}
