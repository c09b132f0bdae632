// OpenMP 5.2, section 21.2.1: OMP_SCHEDULE with a modifier, blanks and capitals.
// stdout: ok
// levels: O0 O2
// env: OMP_SCHEDULE=Monotonic:Dynamic,9
#include "../../check.h"
int main(void) {
  omp_sched_t kind; int chunk;
  omp_get_schedule(&kind, &chunk);
  CHECK((kind & 0x7fffffff) == omp_sched_dynamic && chunk == 9);
  int n = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : n) num_threads(3)
  for (int i = 0; i < 100; i++) n++;
  CHECK(n == 100);
  return DONE();
}
