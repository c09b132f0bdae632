// OpenMP 5.2, section 8.2: requirements that devices here meet.
// flags: -fopenmp-version=51
#include "../../check.h"
#pragma omp requires dynamic_allocators atomic_default_mem_order(seq_cst)
int main(void) {
  int sum = 0, device = 0;
#pragma omp target map(tofrom : sum, device)
  {
    int *p = omp_alloc(40, omp_default_mem_alloc);
    for (int i = 0; i < 10; i++) p[i] = i;
    for (int i = 0; i < 10; i++) sum += p[i];
    omp_free(p, omp_default_mem_alloc);
    device = !omp_is_initial_device();
#pragma omp atomic
    sum += 1;
  }
  CHECK(sum == 46 && device);
  return DONE();
}
