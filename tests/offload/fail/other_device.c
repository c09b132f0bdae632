// A pointer of one device is used on another.
// options: --device=emulated:2
// signal: 6
// stderr-has: an address of another device
// stderr-has: other_device.c:10
#include <omp.h>
int main(void) {
  int *p = omp_target_alloc(40, 0);
#pragma omp target is_device_ptr(p) device(1)
  p[1] = 2;
  return 0;
}
