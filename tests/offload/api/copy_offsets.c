// OpenMP 5.2, section 18.8.5: offsets on both sides; copies within the host and within a device.
#include "../../check.h"
int main(void) {
  int d = omp_get_default_device(), h = omp_get_initial_device();
  char a[32], b[32] = {0};
  for (int i = 0; i < 32; i++) a[i] = (char)i;
  char *dev = omp_target_alloc(64, d);
  CHECK(omp_target_memcpy(dev, a, 8, 40, 16, d, h) == 0);   // a[16..24] to dev[40..48]
  CHECK(omp_target_memcpy(dev, dev, 8, 3, 40, d, d) == 0);
  CHECK(omp_target_memcpy(b, dev, 8, 5, 3, h, d) == 0);
  for (int i = 0; i < 32; i++) CHECK(b[i] == (i >= 5 && i < 13 ? 16 + i - 5 : 0));
  CHECK(omp_target_memcpy(b, a, 4, 20, 0, h, h) == 0 && b[21] == 1);
  omp_target_free(dev, d);
  return DONE();
}
