// A device without memory while offloading is mandatory.
// env: OMPVM_EMULATED_MEMORY=1M OMP_TARGET_OFFLOAD=MANDATORY
// signal: 6
// stderr-has: bytes left
// stderr-has: OMP_TARGET_OFFLOAD is `mandatory`
// stderr-has: out_of_memory_mandatory.c:10 (main)
#include <stdlib.h>
int main(void) {
  char *p = calloc(16, 1 << 20);
#pragma omp target map(tofrom : p[0 : 16 << 20])
  p[5] = 1;
  return p[5];
}
