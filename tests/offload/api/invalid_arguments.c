// OpenMP 5.2, section 18.8: invalid arguments are refused by a result, not by the end of the program.
#include "../../check.h"
int main(void) {
  int d = omp_get_default_device(), h = omp_get_initial_device(), v[4] = {0}, none = omp_get_num_devices() + 7;
  CHECK(omp_target_alloc(16, none) == NULL);
  CHECK(omp_target_alloc(0, d) == NULL);
  int *dev = omp_target_alloc(sizeof v, d);
  CHECK(omp_target_memcpy(dev, v, sizeof v, 0, 0, none, h) != 0);
  CHECK(omp_target_memcpy(dev, NULL, sizeof v, 0, 0, d, h) != 0);
  CHECK(omp_target_memcpy(NULL, v, sizeof v, 0, 0, d, h) != 0);
  CHECK(omp_target_memcpy(dev, v, 0, 0, 0, d, h) == 0);
  CHECK(omp_target_associate_ptr(v, dev, sizeof v, 0, none) != 0);
  CHECK(omp_target_disassociate_ptr(v, none) != 0);
  CHECK(!omp_target_is_present(v, none));
  size_t one[1] = {4}, zero[1] = {0};
  CHECK(omp_target_memcpy_rect(dev, v, 4, 0, one, zero, zero, one, one, d, h) != 0);
  CHECK(omp_target_memcpy_rect(dev, v, 4, 1, NULL, zero, zero, one, one, d, h) != 0);
  omp_target_free(NULL, d);
  omp_target_free(dev, d);
  return DONE();
}
