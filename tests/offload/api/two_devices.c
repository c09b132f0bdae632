// OpenMP 5.2, section 18.8.5: copies from one device to another.
// options: --device=emulated:2
#include "../../check.h"
int main(void) {
  int h = omp_get_initial_device(), v[10], w[10];
  int *a = omp_target_alloc(sizeof v, 0), *b = omp_target_alloc(sizeof v, 1);
  for (int i = 0; i < 10; i++) v[i] = i * i;
  omp_target_memcpy(a, v, sizeof v, 0, 0, 0, h);
  CHECK(omp_target_memcpy(b, a, sizeof v, 0, 0, 1, 0) == 0);
#pragma omp target is_device_ptr(b) device(1)
  b[9]++;
  omp_target_memcpy(w, b, sizeof v, 0, 0, h, 1);
  for (int i = 0; i < 10; i++) CHECK(w[i] == i * i + (i == 9));
  CHECK(omp_target_memcpy(a, v, sizeof v, 0, 0, 7, h) != 0);
  omp_target_free(a, 0);
  omp_target_free(b, 1);
  return DONE();
}
