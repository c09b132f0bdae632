// OpenMP 5.2, section 18.8: explicit allocation of device memory.
#include "../../check.h"
int main(void) {
  int d = omp_get_default_device(), h = omp_get_initial_device(), n = 100;
  int *dev = omp_target_alloc(n * sizeof(int), d), *host = malloc(n * sizeof(int));
  CHECK(dev != NULL && omp_target_alloc(0, d) == NULL);
  for (int i = 0; i < n; i++) host[i] = i;
  CHECK(omp_target_memcpy(dev, host, n * sizeof(int), 0, 0, d, h) == 0);
#pragma omp target is_device_ptr(dev)
  for (int i = 0; i < n; i++) dev[i] += 5;
  CHECK(omp_target_memcpy(host, dev, 10 * sizeof(int), 0, 20 * sizeof(int), h, d) == 0);
  for (int i = 0; i < n; i++) CHECK(host[i] == (i < 10 ? i + 25 : i));
  int *second = omp_target_alloc(n * sizeof(int), d);
  CHECK(omp_target_memcpy(second, dev, n * sizeof(int), 0, 0, d, d) == 0);
  CHECK(omp_target_memcpy(host, second, n * sizeof(int), 0, 0, h, d) == 0);
  for (int i = 0; i < n; i++) CHECK(host[i] == i + 5);
  omp_target_free(dev, d);
  omp_target_free(second, d);
  free(host);
  return DONE();
}
