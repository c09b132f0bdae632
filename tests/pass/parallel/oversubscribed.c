// OpenMP 5.2, section 10.1.1: sixteen threads on any machine: all exist at once, since all meet at a barrier.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int arrived = 0, seen[16] = {0};
#pragma omp parallel num_threads(16)
  {
    CHECK(omp_get_num_threads() == 16);
    for (int round = 1; round <= 5; round++) {
#pragma omp atomic
      arrived++;
#pragma omp barrier
      int now;
#pragma omp atomic read
      now = arrived;
      CHECK(now == 16 * round);
#pragma omp barrier
    }
    seen[omp_get_thread_num()]++;
  }
  for (int i = 0; i < 16; i++) CHECK(seen[i] == 1);
  return DONE();
}
