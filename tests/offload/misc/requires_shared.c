// OpenMP 5.2, section 8.2: what requires unified shared memory finds no device, and says why; the host's version runs, unmapped.
// flags: -fopenmp-version=51
// options: --device=emulated --offload-report
// stderr-has: no device has what the program requires: unified_shared_memory
#include "../../check.h"
#pragma omp requires unified_shared_memory
int main(void) {
  int *p = malloc(10 * sizeof *p), host = 0;
  CHECK(omp_get_num_devices() == 0);
#pragma omp target map(from : host)
  for (int i = 0; i < 10; i++) p[i] = i, host = omp_is_initial_device();
  for (int i = 0; i < 10; i++) CHECK(p[i] == i);
  CHECK(host);
  free(p);
  return DONE();
}
