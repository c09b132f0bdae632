// With unified shared memory a null pointer is a fault all the same.
// flags: -fopenmp-version=51
// signal: 6
// stderr-has: shared_null.c:12
// stderr-has: through a null pointer
#include "../../check.h"
#pragma omp requires unified_shared_memory
int main(void) {
  int *volatile p = NULL;
#pragma omp target
  {
    p[2] = 1;
  }
  return DONE();
}
