// Sizes at the ends of blocks and of memory: a block is accessible as far as it goes, and a range that wraps is refused.
// flags: -fopenmp-version=51
// options: --device=emulated
#include "../../check.h"
#include <stdint.h>
void *llvm_omp_target_alloc_shared(size_t, int);
void llvm_omp_target_free_shared(void *, int);
int main(void) {
  int d = omp_get_default_device(), x = 0;
  char *shared = llvm_omp_target_alloc_shared(64, d), *own = omp_target_alloc(64, d);
  CHECK(omp_target_is_accessible(shared, 64, d));
  CHECK(omp_target_is_accessible(shared + 60, 4, d));
  CHECK(!omp_target_is_accessible(shared + 60, 5, d));
  CHECK(!omp_target_is_accessible(shared, 1 << 30, d));
  CHECK(!omp_target_is_accessible(shared, SIZE_MAX, d));
  CHECK(omp_target_is_accessible(own, 64, d));
  CHECK(!omp_target_is_accessible(own, SIZE_MAX, d));
#pragma omp target enter data map(to : x)
  CHECK(omp_target_associate_ptr(&d, own, SIZE_MAX, 0, d) != 0);
  CHECK(omp_target_is_present(&x, d));
#pragma omp target exit data map(delete : x)
  omp_target_free(own, d);
  llvm_omp_target_free_shared(shared, d);
  return DONE();
}
