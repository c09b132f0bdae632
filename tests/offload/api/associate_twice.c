// OpenMP 5.2, sections 18.8.9 and 18.8.10: an association is unique, and holds until it is removed.
#include "../../check.h"
int main(void) {
  int d = omp_get_default_device(), h = omp_get_initial_device(), v[8], other[8];
  int *dev = omp_target_alloc(sizeof v, d);
  for (int i = 0; i < 8; i++) v[i] = i, other[i] = 0;
  CHECK(omp_target_associate_ptr(v, dev, sizeof v, 0, d) == 0);
  CHECK(omp_target_associate_ptr(v, dev, sizeof v, 0, d) == 0);            // the same again is no error
  CHECK(omp_target_associate_ptr(v, dev + 1, sizeof(int), 0, d) != 0);     // another one is
  CHECK(omp_target_is_present(v, d));
#pragma omp target update to(v)
#pragma omp target map(tofrom : v)
  for (int i = 0; i < 8; i++) v[i] += 10;
  for (int i = 0; i < 8; i++) CHECK(v[i] == i); // the count is infinite: nothing is copied back implicitly
#pragma omp target exit data map(delete : v)
  CHECK(omp_target_is_present(v, d));
#pragma omp target update from(v)
  for (int i = 0; i < 8; i++) CHECK(v[i] == i + 10);
  CHECK(omp_target_disassociate_ptr(other, d) != 0);
  CHECK(omp_target_disassociate_ptr(v, d) == 0);
  CHECK(!omp_target_is_present(v, d));
  CHECK(omp_target_disassociate_ptr(v, d) != 0);
  CHECK(omp_target_memcpy(other, dev, sizeof v, 0, 0, h, d) == 0 && other[7] == 17);
  omp_target_free(dev, d);
  return DONE();
}
