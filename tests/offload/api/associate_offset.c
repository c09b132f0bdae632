// OpenMP 5.2, section 18.8.9: the device's memory begins at an offset of an allocation.
#include "../../check.h"
int main(void) {
  int d = omp_get_default_device(), h = omp_get_initial_device(), v[4] = {1, 2, 3, 4}, all[8] = {0};
  int *dev = omp_target_alloc(sizeof all, d);
  CHECK(omp_target_memcpy(dev, all, sizeof all, 0, 0, d, h) == 0);
  CHECK(omp_target_associate_ptr(v, dev, sizeof v, 3 * sizeof(int), d) == 0);
#pragma omp target update to(v)
#pragma omp target
  v[1] *= 10;
  CHECK(omp_target_memcpy(all, dev, sizeof all, 0, 0, h, d) == 0);
  CHECK(all[2] == 0 && all[3] == 1 && all[4] == 20 && all[6] == 4 && all[7] == 0);
  CHECK(omp_target_disassociate_ptr(v, d) == 0);
  omp_target_free(dev, d);
  return DONE();
}
