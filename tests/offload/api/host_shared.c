// LLVM's routines: memory that both sides can access.
#include "../../check.h"
void *llvm_omp_target_alloc_host(size_t, int), *llvm_omp_target_alloc_shared(size_t, int);
void llvm_omp_target_free_host(void *, int), llvm_omp_target_free_shared(void *, int);
int main(void) {
  int d = omp_get_default_device();
  int *p = llvm_omp_target_alloc_host(40, d), *q = llvm_omp_target_alloc_shared(40, d);
  for (int i = 0; i < 10; i++) p[i] = i, q[i] = 0;
  CHECK(omp_target_is_accessible(p, 40, d) && omp_target_is_accessible(q, 40, d));
#pragma omp target is_device_ptr(p, q)
  for (int i = 0; i < 10; i++) q[i] = p[i] + 1;
  for (int i = 0; i < 10; i++) CHECK(q[i] == i + 1);
  llvm_omp_target_free_host(p, d);
  llvm_omp_target_free_shared(q, d);
  return DONE();
}
