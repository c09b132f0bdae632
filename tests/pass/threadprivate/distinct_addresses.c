// OpenMP 5.2, section 5.2: each thread has its own address for the variable, the same in every function and region.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int global;
#pragma omp threadprivate(global)
__attribute__((noinline)) static int *address(void) { return &global; }
int main(void) {
  int *where[4], *primary = &global;
#pragma omp parallel num_threads(4)
  {
    where[omp_get_thread_num()] = &global;
    CHECK(address() == &global);
  }
  CHECK(where[0] == primary && address() == primary);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < i; j++) CHECK(where[i] != where[j]);
#pragma omp parallel num_threads(4)
  CHECK(where[omp_get_thread_num()] == &global);
  return DONE();
}
