// OpenMP 5.2, sections 18.8.9 to 18.8.11: memory of the device associated with variables of the host.
#include "../../check.h"
int main(void) {
  int d = omp_get_default_device(), h = omp_get_initial_device(), v[10];
  int *dev = omp_target_alloc(20 * sizeof(int), d);
  for (int i = 0; i < 10; i++) v[i] = i;
  CHECK(omp_get_mapped_ptr(v, d) == NULL && omp_get_mapped_ptr(v, h) == v);
  CHECK(omp_target_associate_ptr(v, dev, sizeof v, 5 * sizeof(int), d) == 0);
  CHECK(omp_target_is_present(v, d) && omp_get_mapped_ptr(v, d) == dev + 5);
#pragma omp target update to(v)
#pragma omp target map(alloc : v)
  v[3] = 33;
  CHECK(v[3] == 3);
#pragma omp target update from(v)
  CHECK(v[3] == 33);
  CHECK(omp_target_disassociate_ptr(v, d) == 0 && !omp_target_is_present(v, d));
  CHECK(omp_target_disassociate_ptr(v, d) != 0);
  omp_target_free(dev, d);
  return DONE();
}
