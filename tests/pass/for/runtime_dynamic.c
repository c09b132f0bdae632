// OpenMP 5.2, section 21.2.1: OMP_SCHEDULE=dynamic,5 is what omp_get_schedule reports and schedule(runtime) does.
// stdout: ok
// levels: O0 O2
// env: OMP_SCHEDULE=dynamic,5
#include "../../check.h"
int main(void) {
  int owner[103], hits[103] = {0}, chunk; omp_sched_t kind;
  omp_get_schedule(&kind, &chunk);
  CHECK((kind & 0x7fffffff) == omp_sched_dynamic && chunk == 5);
#pragma omp parallel for num_threads(4) schedule(runtime)
  for (int i = 0; i < 103; i++) {
    owner[i] = omp_get_thread_num();
    hits[i]++;
  }
  for (int i = 0; i < 103; i++) CHECK(hits[i] == 1 && owner[i] == owner[i - i % 5]);
  return DONE();
}
