// OpenMP 6.0, sections 24.7 and 24.8: each of two devices and the host have a unique identifier; devices have no memory
// for allocators of the host. In a region no identifier is known.
// options: --device=emulated:2
// flags: -fopenmp-version=60
#include "../../check.h"
#include <string.h>
int main(void) {
  CHECK(omp_get_num_devices() == 2);
  for (int i = 0; i <= omp_get_num_devices(); i++) {
    const char *uid = omp_get_uid_from_device(i);
    CHECK(uid && *uid && omp_get_device_from_uid(uid) == i);
    for (int k = 0; k < i; k++) CHECK(strcmp(uid, omp_get_uid_from_device(k)) != 0);
  }
  CHECK(omp_get_uid_from_device(3) == NULL && omp_get_device_from_uid("2") == omp_invalid_device);
  int there = 0, none = 0;
#pragma omp target map(from : there, none) device(1)
  there = omp_get_device_num(), none = omp_get_uid_from_device(there) == NULL && omp_get_device_from_uid(NULL) == omp_invalid_device;
  CHECK(there == 1 && none);
  omp_memspace_handle_t s = omp_default_mem_space;
  int both[] = {0, 2};
  CHECK(omp_get_device_memspace(2, s) == s && omp_get_device_memspace(1, s) == omp_null_mem_space);
  CHECK(omp_get_devices_memspace(2, both, s) == omp_null_mem_space && omp_get_devices_all_memspace(s) == omp_null_mem_space);
  CHECK(omp_get_devices_allocator(2, both, s) == omp_null_allocator);
  return DONE();
}
