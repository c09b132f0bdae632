// OpenMP 5.2, section 12.9: task scheduling. Many tasks by one thread and by all, between barriers, worksharing and reductions; a tied task stays on its thread.
// stdout: ok
#include "../../check.h"
int main(void) {
  long sum = 0, all = 0;
  int moved = 0;
#pragma omp parallel reduction(+ : sum)
  {
    for (int round = 0; round < 30; round++) {
#pragma omp single nowait
      for (int i = 0; i < 500; i++) {
#pragma omp task shared(all)
#pragma omp atomic
        all++;
      }
#pragma omp barrier
      CHECK(all >= (round + 1) * 500L);
#pragma omp barrier
#pragma omp for
      for (int i = 0; i < 100; i++) {
        sum += i;
#pragma omp task shared(moved)
        {
          int before = omp_get_thread_num();
#pragma omp task
          {}
#pragma omp taskwait
          if (before != omp_get_thread_num())
#pragma omp atomic
            moved++;
        }
      }
#pragma omp single
      CHECK(all == (round + 1) * 500L);
    }
  }
  CHECK(sum == 30 * 4950 && all == 15000 && moved == 0);
  return DONE();
}
