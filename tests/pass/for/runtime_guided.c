// OpenMP 5.2, section 21.2.1: OMP_SCHEDULE=guided without a chunk means 1.
// stdout: ok
// levels: O0 O2
// env: OMP_SCHEDULE=guided
#include "../../check.h"
int main(void) {
  int hits[200] = {0}, chunk; omp_sched_t kind;
  omp_get_schedule(&kind, &chunk);
  CHECK((kind & 0x7fffffff) == omp_sched_guided && chunk == 1);
#pragma omp parallel for num_threads(4) schedule(runtime)
  for (int i = 0; i < 200; i++) hits[i]++;
  for (int i = 0; i < 200; i++) CHECK(hits[i] == 1);
  return DONE();
}
