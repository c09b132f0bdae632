// OpenMP 5.2, section 10.1: regions with an empty block, and with a block that only some threads do work in.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int only = 0;
#pragma omp parallel
  {
  }
#pragma omp parallel num_threads(4)
  if (omp_get_thread_num() == 3) only = 1;
  CHECK(only == 1);
  return DONE();
}
