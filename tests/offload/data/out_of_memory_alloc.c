// A device without memory: explicit allocations return null, smaller ones succeed, and the host's data is unchanged.
// env: OMPVM_EMULATED_MEMORY=2M
// not-on: processors
#include "../../check.h"
int main(void) {
  int d = omp_get_default_device(), h = omp_get_initial_device(), v[100], seen = 0;
  for (int i = 0; i < 100; i++) v[i] = i;
  void *large = omp_target_alloc(64L << 20, d);
  CHECK(large == NULL);
  int *small = omp_target_alloc(sizeof v, d);
  CHECK(small && omp_target_memcpy(small, v, sizeof v, 0, 0, d, h) == 0);
#pragma omp target is_device_ptr(small) map(from : seen)
  seen = small[42];
  CHECK(seen == 42);
  for (int k = 0; k < 50; k++) { // freed memory can be allocated again
    char *p = omp_target_alloc(1 << 20, d);
    CHECK(p != NULL);
    omp_target_free(p, d);
  }
  omp_target_free(small, d);
  for (int i = 0; i < 100; i++) CHECK(v[i] == i);
  return DONE();
}
