// OpenMP 5.2, section 21.5.1: OMP_ALLOCATOR names a memory space with traits.
// native: skip (libomp gives more than the pool of OMP_ALLOCATOR has)
// stdout: ok
// env: OMP_ALLOCATOR=omp_default_mem_space:alignment=512,pool_size=100000,fallback=null_fb
// flags: -fopenmp-version=51
#include "../../check.h"
#include <stdint.h>
int main(void) {
  CHECK((uintptr_t)omp_get_default_allocator() > 8);
#pragma omp parallel num_threads(2)
  {
    char *p = omp_alloc(10, omp_null_allocator);
    CHECK(p && (uintptr_t)p % 512 == 0 && !omp_alloc(100000, omp_null_allocator));
    omp_free(p, omp_null_allocator);
  }
  return DONE();
}
