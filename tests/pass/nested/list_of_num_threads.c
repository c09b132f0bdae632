// OpenMP 5.2, section 21.1.2: OMP_NUM_THREADS=4,2 gives the team size of each nesting level.
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=4,2
// env: OMP_MAX_ACTIVE_LEVELS=3
#include "../../check.h"
int main(void) {
  int inner = 0, third = 0;
  CHECK(omp_get_max_threads() == 4);
#pragma omp parallel
  {
    CHECK(omp_get_num_threads() == 4 && omp_get_max_threads() == 2);
#pragma omp parallel
    {
      CHECK(omp_get_num_threads() == 2);
#pragma omp atomic
      inner++;
#pragma omp parallel
#pragma omp atomic
      third++;
    }
  }
  CHECK(inner == 8 && third == 16);
  return DONE();
}
