// OpenMP 5.2, section 18.2.12: omp_get_schedule returns what omp_set_schedule set, for each kind; chunk below 1 means the default.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided}, kind; int chunk;
  for (int k = 0; k < 3; k++) {
    omp_set_schedule(kinds[k], 11 + k);
    omp_get_schedule(&kind, &chunk);
    CHECK((kind & 0x7fffffff) == kinds[k] && chunk == 11 + k);
  }
  omp_set_schedule(omp_sched_dynamic, 0);
  omp_get_schedule(&kind, &chunk);
  CHECK((kind & 0x7fffffff) == omp_sched_dynamic && chunk <= 1);
  omp_set_schedule(omp_sched_static | omp_sched_monotonic, 4);
  omp_get_schedule(&kind, &chunk);
  CHECK((kind & 0x7fffffff) == omp_sched_static && chunk == 4);
  return DONE();
}
