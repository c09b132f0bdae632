// A fault in a region on the processors: the report names the kernel, and thus function and line.
// options: --device=cpu
// signal: 11
// stderr-has: a fault on the processors at address 0x10, in the kernel `__omp_offloading_
// stderr-has: _main_l8`
#include "../../check.h"
int main(void) {
#pragma omp target teams distribute parallel for
  for (int i = 4; i < 5; i++) ((volatile int *)0)[i] = i;
  return DONE();
}
