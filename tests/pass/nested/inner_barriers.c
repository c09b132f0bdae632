// OpenMP 5.2, section 15.3.1: barriers of inner teams do not wait for the outer team's other threads.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int order[2] = {0};
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
    int me = omp_get_thread_num();
    // Inner team 0 passes a number of barriers that inner team 1 never meets.
#pragma omp parallel num_threads(2)
    for (int i = 0; i < (me ? 5 : 50); i++) {
#pragma omp barrier
#pragma omp single
      order[me]++;
    }
  }
  CHECK(order[0] == 50 && order[1] == 5);
  return DONE();
}
