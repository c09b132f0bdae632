// OpenMP 5.2, section 2.4: omp_set_num_threads in a region changes the calling thread's own value for inner regions only.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int sizes[3] = {0};
  omp_set_max_active_levels(2);
  omp_set_num_threads(3);
#pragma omp parallel
  {
    int me = omp_get_thread_num();
    omp_set_num_threads(me + 2);
    CHECK(omp_get_max_threads() == me + 2);
#pragma omp parallel
    {
      CHECK(omp_get_max_threads() == me + 2);
#pragma omp single
      sizes[me] = omp_get_num_threads();
    }
  }
  CHECK(omp_get_max_threads() == 3);
  CHECK(sizes[0] == 2 && sizes[1] == 3 && sizes[2] == 4);
  return DONE();
}
