// OpenMP 5.2, section 3.4: a parallel whose if clause is false has a team of one, an inactive region at level 1.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(int argc, char **argv) {
  (void)argv;
  int runs = 0;
#pragma omp parallel if (argc > 100) num_threads(4)
  {
    runs++;
    CHECK(omp_get_num_threads() == 1 && omp_get_thread_num() == 0);
    CHECK(omp_get_level() == 1 && omp_get_active_level() == 0 && !omp_in_parallel());
  }
  CHECK(runs == 1 && omp_get_level() == 0);
  return DONE();
}
