// OpenMP 6.0, section 25.8: filling memory of a device.
#include "../../check.h"
void *omp_target_memset(void *, int, size_t, int);
int main(void) {
  int d = omp_get_default_device();
  unsigned char *dev = omp_target_alloc(100, d), v[100];
  omp_target_memset(dev, 0x5a, 100, d);
  omp_target_memset(dev + 10, 1, 5, d);
  omp_target_memcpy(v, dev, 100, 0, 0, omp_get_initial_device(), d);
  for (int i = 0; i < 100; i++) CHECK(v[i] == (i >= 10 && i < 15 ? 1 : 0x5a));
  omp_target_free(dev, d);
  return DONE();
}
