// OpenMP 5.2, section 21.5.1: an invalid OMP_ALLOCATOR gets one warning, and the default allocator stays.
// native: skip (libomp takes any alignment from the environment)
// stdout: ok
// env: OMP_ALLOCATOR=omp_default_mem_space:alignment=3
// stderr-has: OMP: Warning #42: OMP_ALLOCATOR="omp_default_mem_space:alignment=3" is not an allocator
#include "../../check.h"
int main(void) {
  CHECK(omp_get_default_allocator() == omp_default_mem_alloc);
  return DONE();
}
