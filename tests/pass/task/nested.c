// OpenMP 5.2, sections 10.1 and 12.5: tasks in nested teams, tasks that begin regions, control variables of a task.
// env: OMP_MAX_ACTIVE_LEVELS=3
// stdout: ok
#include "../../check.h"
int main(void) {
  int inner = 0, outer = 0;
#pragma omp parallel num_threads(3)
  {
    for (int i = 0; i < 5; i++) {
#pragma omp task shared(inner, outer)
      {
        int level = omp_get_level();
        omp_set_num_threads(2);
#pragma omp parallel
        {
          CHECK(omp_get_level() == level + 1 && omp_get_num_threads() <= 2);
          for (int k = 0; k < 10; k++) {
#pragma omp task shared(inner)
#pragma omp atomic
            inner++;
          }
        }
        CHECK(omp_get_level() == level && omp_get_max_threads() == 2);
#pragma omp atomic
        outer++;
      }
    }
#pragma omp barrier
    CHECK(outer == 15);
  }
  CHECK(outer == 15 && inner == 300);
  return DONE();
}
