// OpenMP 5.2, section 6.2: an allocator with the fallback abort_fb that has no memory ends the program.
// signal: 6
// flags: -fopenmp-version=51
// stderr-has: abort_fb
#include <omp.h>
int main(void) {
  omp_alloctrait_t t[] = {{omp_atk_pool_size, 1000}, {omp_atk_fallback, omp_atv_abort_fb}};
  omp_allocator_handle_t a = omp_init_allocator(omp_default_mem_space, 2, t);
  return omp_alloc(2000, a) != NULL;
}
