// OpenMP 5.2, sections 6.2 and 18.13: traits of an allocator: alignment, a pool with each fallback, pinned memory, every
// partition; freed blocks return to the pool, and those of a destroyed allocator may still be freed.
// native: skip (libomp asserts where a trait makes no sense)
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=51
#include "../../check.h"
#include <stdint.h>
static omp_allocator_handle_t make(int n, omp_alloctrait_t *t) { return omp_init_allocator(omp_default_mem_space, n, t); }
int main(void) {
  omp_alloctrait_t aligned[] = {{omp_atk_alignment, 4096}, {omp_atk_sync_hint, omp_atv_contended}};
  omp_allocator_handle_t a = make(2, aligned);
  CHECK(a != omp_null_allocator);
#pragma omp parallel num_threads(4)
  for (int i = 1; i < 40; i++) {
    char *p = omp_alloc(i, a), *q = omp_aligned_calloc(1 << 14, i, 3, a);
    CHECK(p && (uintptr_t)p % 4096 == 0 && (uintptr_t)q % (1 << 14) == 0 && q[3 * i - 1] == 0);
    p[i - 1] = 7;
    p = omp_realloc(p, 100000, a, a);
    CHECK((uintptr_t)p % 4096 == 0 && p[i - 1] == 7);
    omp_free(p, a), omp_free(q, omp_null_allocator);
  }
  omp_destroy_allocator(a);
  CHECK(omp_aligned_alloc(48, 64, omp_default_mem_alloc) == NULL);
  CHECK(omp_alloc(0, omp_default_mem_alloc) == NULL);

  omp_alloctrait_t pool[] = {{omp_atk_pool_size, 1 << 20}, {omp_atk_fallback, omp_atv_null_fb}};
  a = make(2, pool);
  for (int round = 0; round < 100; round++) {
    char *p = omp_alloc(600000, a), *q = omp_alloc(600000, a);
    CHECK(p && !q);
    p[599999] = 1;
    p = omp_realloc(p, 100, a, a);
    CHECK(p && p[0] == p[0]);
    q = omp_calloc(1000, 600, a);
    CHECK(q && q[599999] == 0);
    omp_free(p, a), omp_free(q, a);
  }
  CHECK(omp_alloc((size_t)-100, a) == NULL && omp_calloc((size_t)1 << 40, (size_t)1 << 40, a) == NULL);
  char *late = omp_alloc(1000, a);

  omp_alloctrait_t chained[] = {
      {omp_atk_pool_size, 1000}, {omp_atk_fallback, omp_atv_allocator_fb}, {omp_atk_fb_data, (omp_uintptr_t)a}};
  omp_allocator_handle_t b = make(3, chained);
  char *in_b = omp_alloc(500, b), *in_a = omp_alloc(5000, b);
  CHECK(in_b && in_a && omp_alloc(2 << 20, b) == NULL);
  omp_free(in_b, b), omp_free(in_a, b);
  omp_destroy_allocator(b);
  omp_destroy_allocator(a);
  late[999] = 1;
  omp_free(late, omp_null_allocator);

  omp_alloctrait_t small[] = {{omp_atk_pool_size, 1000}};
  a = make(1, small);
  char *outside = omp_alloc(100000, a);
  CHECK(outside);
  outside[99999] = 1;
  omp_free(outside, a);
  omp_destroy_allocator(a);

  omp_uintptr_t partitions[] = {omp_atv_environment, omp_atv_nearest, omp_atv_blocked, omp_atv_interleaved};
  for (int i = 0; i < 4; i++) {
    omp_alloctrait_t t[] = {
        {omp_atk_partition, partitions[i]}, {omp_atk_pinned, i & 1 ? omp_atv_true : omp_atv_false}, {omp_atk_alignment, 1 << (6 + 3 * i)}};
    a = make(3, t);
    int *p = omp_calloc(10000, sizeof *p, a), *q = omp_alloc(4, a);
    CHECK(p && q && p[9999] == 0 && (uintptr_t)p % (1 << (6 + 3 * i)) == 0);
    p[9999] = *q = i;
    p = omp_realloc(p, 80000, a, a);
    CHECK(p[9999] == i);
    omp_free(p, a), omp_free(q, a);
    omp_destroy_allocator(a);
  }
  omp_alloctrait_t wrong[] = {{omp_atk_fallback, omp_atv_allocator_fb}};
  CHECK(make(1, wrong) == omp_null_allocator);
  return DONE();
}
