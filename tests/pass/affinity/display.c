// OpenMP 5.2, section 21.2.4: OMP_DISPLAY_AFFINITY shows each thread of the first region, and again when the team's
// size changes, not when it stays the same.
// stdout: level-1-of-002
// stdout: level-1-of-002
// stdout: level-1-of-003
// stdout: level-1-of-003
// stdout: level-1-of-003
// stdout: level-1-of-001
// stdout: ok
// env: OMP_DISPLAY_AFFINITY=true OMP_AFFINITY_FORMAT=level-%L-of-%0.3N OMP_PROC_BIND=close
// levels: O0 O2
#include "../../check.h"
int main(void) {
  for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(2)
    CHECK(omp_get_num_threads() == 2);
  }
#pragma omp parallel num_threads(3)
  CHECK(omp_get_num_threads() == 3);
  for (int i = 0; i < 2; i++) {
#pragma omp parallel num_threads(1)
    CHECK(omp_get_num_threads() == 1);
  }
  return DONE();
}
