// OpenMP 5.2, sections 10.1.3 and 15.3.1: members that share a processor meet at barriers, ordered iterations
// and tasks, though the waiting and the awaited thread cannot run at the same time.
// stdout: 400 200 1200
// stdout: ok
// env: OMP_PLACES={0} OMP_PROC_BIND=close OMP_NUM_THREADS=2
#include "../../check.h"
int main(void) {
  long meetings = 0, turns = 0, tasks = 0;
  for (int round = 0; round < 100; round++) {
    int arrived[2] = {0, 0};
#pragma omp parallel num_threads(2) shared(arrived)
    {
      int me = omp_get_thread_num();
      for (int step = 1; step <= 4; step++) {
        arrived[me] = step;
#pragma omp barrier
        CHECK(arrived[0] == step && arrived[1] == step);
#pragma omp single
        meetings++;
      }
#pragma omp for ordered schedule(static, 1)
      for (int i = 0; i < 2; i++)
#pragma omp ordered
        turns++;
#pragma omp single
      for (int i = 0; i < 12; i++)
#pragma omp task
#pragma omp atomic
        tasks++;
    }
  }
  printf("%ld %ld %ld\n", meetings, turns, tasks);
  return DONE();
}
