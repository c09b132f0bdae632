// OpenMP 5.2, section 18.13: the routines that allocate, in device code.
#include "../../check.h"
int main(void) {
  int errors = 1, teams = 0;
#pragma omp target map(tofrom : errors)
  {
    errors = 0;
    omp_alloctrait_t traits[1] = {{omp_atk_alignment, 64}};
    omp_allocator_handle_t mine = omp_init_allocator(omp_default_mem_space, 1, traits);
    errors += mine == omp_null_allocator;
    int *a = omp_alloc(40, mine);
    for (int i = 0; i < 10; i++) a[i] = i;
    a = omp_realloc(a, 80, mine, mine);
    for (int i = 0; i < 10; i++) errors += a[i] != i;
    a[19] = 1;
    double *b = omp_calloc(5, sizeof *b, omp_default_mem_alloc);
    for (int i = 0; i < 5; i++) errors += b[i] != 0;
    char *c = omp_aligned_alloc(256, 3, mine);
    errors += (unsigned long)c % 256 != 0;
    c[0] = c[2] = 1;
    long *d = omp_aligned_calloc(128, 7, sizeof *d, mine);
    errors += (unsigned long)d % 128 != 0;
    for (int i = 0; i < 7; i++) errors += d[i] != 0;
    errors += omp_alloc(0, mine) != NULL || omp_calloc((size_t)-1, 16, mine) != NULL;
    errors += omp_get_default_allocator() == omp_null_allocator;
    omp_set_default_allocator(mine);
    omp_free(a, mine);
    omp_free(b, omp_default_mem_alloc);
    omp_free(c, mine);
    omp_free(d, omp_null_allocator);
    omp_free(NULL, mine);
    omp_destroy_allocator(mine);
  }
  CHECK(errors == 0);
#pragma omp target teams num_teams(4) map(tofrom : teams) reduction(+ : teams)
  {
    int *own = omp_calloc(1, sizeof *own, omp_default_mem_alloc);
    *own += omp_get_team_num() + 1;
    teams += *own;
    omp_free(own, omp_default_mem_alloc);
  }
  CHECK(teams == 10);
  return DONE();
}
