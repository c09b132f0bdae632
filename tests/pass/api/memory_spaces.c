// OpenMP 6.0, sections 27.1 and 27.2: memory spaces and allocators by the devices that access them. The host's memory is the memory that
// the host alone accesses; equal queries have equal results; invalid devices and spaces have none.
// native: skip (libomp knows such spaces of an offload runtime only)
// stdout: ok
// levels: O0 O2
// options: --device=host
// flags: -fopenmp-version=60
#include "../../check.h"
static void usable(omp_allocator_handle_t a) {
  CHECK(a != omp_null_allocator);
  int *p = omp_alloc(1000 * sizeof(int), a);
  CHECK(p != NULL);
  for (int i = 0; i < 1000; i++) p[i] = i;
  omp_free(p, a);
  omp_destroy_allocator(a);
}
int main(void) {
  int host = omp_get_initial_device(), hosts[] = {host, -1}, none[] = {host, host + 5}, first[] = {0};
  omp_memspace_handle_t s = omp_large_cap_mem_space;
  CHECK(omp_get_device_memspace(host, s) == s && omp_get_device_memspace(-1, s) == s);
  CHECK(omp_get_device_and_host_memspace(host, s) == s);
  CHECK(omp_get_devices_memspace(2, hosts, s) == s && omp_get_devices_and_host_memspace(2, hosts, s) == s);
  CHECK(omp_get_devices_all_memspace(s) == s);
  CHECK(omp_get_device_memspace(host + 5, s) == omp_null_mem_space && omp_get_device_memspace(-7, s) == omp_null_mem_space);
  CHECK(omp_get_devices_memspace(2, none, s) == omp_null_mem_space);
  CHECK(omp_get_devices_memspace(-1, hosts, s) == omp_null_mem_space);
  CHECK(omp_get_devices_memspace(1, NULL, s) == omp_null_mem_space);
  CHECK(omp_get_device_memspace(host, omp_null_mem_space) == omp_null_mem_space);
  CHECK(omp_get_device_memspace(host, (omp_memspace_handle_t)123456) == omp_null_mem_space);
  usable(omp_get_device_allocator(host, s));
  usable(omp_get_device_and_host_allocator(host, s));
  usable(omp_get_devices_allocator(2, hosts, s));
  usable(omp_get_devices_and_host_allocator(1, hosts, s));
  usable(omp_get_devices_all_allocator(omp_default_mem_space));
  CHECK(omp_get_device_allocator(host + 5, s) == omp_null_allocator);
  CHECK(omp_get_devices_allocator(2, none, s) == omp_null_allocator);
  CHECK(omp_get_device_allocator(host, omp_high_bw_mem_space) == omp_null_allocator);
  CHECK(omp_get_memspace_num_resources(s) == 1 && omp_get_memspace_num_resources(omp_null_mem_space) == 0);
  CHECK(omp_get_submemspace(s, 1, first) == s && omp_get_submemspace(omp_null_mem_space, 1, first) == omp_null_mem_space);
  return DONE();
}
