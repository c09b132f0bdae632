// OpenMP 5.2, section 18.13.5: the default allocator belongs to a task: members of a team begin with their parent's, and a value that
// one sets is not seen by others. OMP_ALLOCATOR sets the initial one.
// native: skip (libomp says that omp_pteam_mem_alloc is not available)
// stdout: ok
// levels: O0 O2
// env: OMP_ALLOCATOR=omp_pteam_mem_alloc
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  CHECK(omp_get_default_allocator() == omp_pteam_mem_alloc);
  omp_alloctrait_t t[] = {{omp_atk_pool_size, 100000}, {omp_atk_fallback, omp_atv_null_fb}};
  omp_allocator_handle_t mine = omp_init_allocator(omp_default_mem_space, 2, t);
  omp_set_default_allocator(mine);
  CHECK(omp_alloc(200000, omp_null_allocator) == NULL && omp_alloc(200000, omp_default_mem_alloc) != NULL);
#pragma omp parallel num_threads(3)
  {
    CHECK(omp_get_default_allocator() == mine);
#pragma omp barrier
    if (omp_get_thread_num() == 1) omp_set_default_allocator(omp_low_lat_mem_alloc);
#pragma omp barrier
    CHECK(omp_get_default_allocator() == (omp_get_thread_num() == 1 ? omp_low_lat_mem_alloc : mine));
#pragma omp parallel num_threads(2)
    CHECK(omp_get_default_allocator() == (omp_get_ancestor_thread_num(1) == 1 ? omp_low_lat_mem_alloc : mine));
  }
  CHECK(omp_get_default_allocator() == mine);
  omp_set_default_allocator(omp_default_mem_alloc);
  omp_destroy_allocator(mine);
  return DONE();
}
