// OpenMP 5.2, section 14.1: interop.
// flags: -fopenmp-version=51
// exit: 125
// stderr-has: __tgt_interop_init
// stderr-has: interop.c:9
#include <omp.h>
int main(void) {
  omp_interop_t object = omp_interop_none;
#pragma omp interop init(targetsync : object)
  return 0;
}
