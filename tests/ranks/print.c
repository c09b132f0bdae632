// OpenMP 5.2, section 13.8: what devices print appears where the region runs, and the status is
// that of rank 0.
// options: --device=emulated
// exit: 3
// stdout: start
// stdout: from device 0
// stdout: after device 0
// stdout: from device 1
// stdout: after device 1
// stdout: end
#include <omp.h>
#include <stdio.h>
int main(void) {
  printf("start\n");
  for (int d = 0; d < 2; d++) {
#pragma omp target device(d)
    printf("from device %d\n", omp_get_device_num());
    printf("after device %d\n", d);
  }
  printf("end\n");
  return 3;
}
