// OpenMP 5.2, section 11.5: dozens of dynamic loops with nowait: fast threads may be many loops ahead of slow ones.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  static int hits[40][50];
#pragma omp parallel num_threads(4)
  for (int loop = 0; loop < 40; loop++) {
    if (omp_get_thread_num() == loop % 4) for (int k = 0; k < 20; k++) sched_yield();
#pragma omp for schedule(dynamic, 3) nowait
    for (int i = 0; i < 50; i++) {
#pragma omp atomic
      hits[loop][i]++;
    }
  }
  for (int i = 0; i < 2000; i++) CHECK((&hits[0][0])[i] == 1);
  return DONE();
}
