// OpenMP 5.2, sections 6.5 and 6.6: allocate directives and clauses take memory of the allocators they name.
// native: skip (libomp 19 is older than the header, whose omp_default_mem_space it does not know)
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=52
#include "../../check.h"
#include <cstdint>
int main() {
  omp_alloctrait_t traits[] = {{omp_atk_alignment, 256}};
  omp_allocator_handle_t mine = omp_init_allocator(omp_default_mem_space, 1, traits);
  double total = 0;
#pragma omp parallel num_threads(3) reduction(+ : total)
  {
    double values[50];
#pragma omp allocate(values) allocator(omp_thread_mem_alloc)
    for (int i = 0; i < 50; i++) values[i] = i;
    for (double v : values) total += v;
  }
  CHECK(total == 3 * 1225);
  int part = 5;
#pragma omp parallel num_threads(3) firstprivate(part) allocate(mine : part)
  {
    CHECK(part == 5 && (std::uintptr_t)&part % 256 == 0);
    part = omp_get_thread_num();
  }
  CHECK(part == 5);
  omp_destroy_allocator(mine);
  return DONE();
}
