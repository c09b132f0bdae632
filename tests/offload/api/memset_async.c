// OpenMP 5.2/6.0, section 18.8.9 (omp_target_memset, omp_target_memset_async): filled at once and by a task.
// flags: -fopenmp-version=60
#include "../../check.h"
int main(void) {
  int d = omp_get_default_device(), h = omp_get_initial_device();
  unsigned char v[64];
  char *dev = omp_target_alloc(sizeof v, d);
  CHECK(omp_target_memset(dev, 0xab, 32, d) == dev);
  CHECK(omp_target_memset_async(dev + 32, 7, 32, d, 0, NULL) == dev + 32);
#pragma omp taskwait
  CHECK(omp_target_memcpy(v, dev, sizeof v, 0, 0, h, d) == 0);
  for (int i = 0; i < 64; i++) CHECK(v[i] == (i < 32 ? 0xab : 7));
  CHECK(omp_target_memset(v, 1, 64, h) == v && v[63] == 1);
  omp_target_free(dev, d);
  return DONE();
}
