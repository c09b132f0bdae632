// Arguments out of range have the effect that they have in LLVM's runtime: one thread, and the static schedule.
// env: OMP_NUM_THREADS=4
// stderr-has: #37
#include "../../check.h"
int main(void) {
  omp_sched_t kind;
  int chunk;
  omp_set_num_threads(-3);
  CHECK(omp_get_max_threads() == 1);
  omp_set_num_threads(3);
  omp_set_num_threads(0);
  CHECK(omp_get_max_threads() == 1);
  omp_set_schedule(omp_sched_guided, 3);
  omp_set_schedule((omp_sched_t)17, 5);
  omp_get_schedule(&kind, &chunk);
  CHECK(kind == omp_sched_static && chunk == 0);
  omp_set_schedule((omp_sched_t)(omp_sched_dynamic | 0x80000000u), 5);
  omp_get_schedule(&kind, &chunk);
  CHECK(chunk == 5);
  return DONE();
}
