// A device pointer is used after it was freed.
// signal: 6
// stderr-has: that was freed on the device
// stderr-has: freed.c:11
#include <omp.h>
int main(void) {
  int d = omp_get_default_device();
  int *p = omp_target_alloc(40, d);
  omp_target_free(p, d);
#pragma omp target is_device_ptr(p)
  p[1] = 2;
  return 0;
}
