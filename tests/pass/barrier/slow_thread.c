// OpenMP 5.2, section 15.3.1: all wait for a thread that arrives long after them (parked waiters must be woken).
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <unistd.h>
int main(void) {
  int late = 0;
#pragma omp parallel num_threads(4)
  for (int round = 0; round < 3; round++) {
    if (omp_get_thread_num() == round) {
      usleep(300000);
      late = round + 1;
    }
#pragma omp barrier
    CHECK(late == round + 1);
#pragma omp barrier
  }
  return DONE();
}
