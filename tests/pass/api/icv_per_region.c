// OpenMP 5.2, section 2.4: values set inside a region hold for that thread's part of it and are gone after it.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  omp_set_num_threads(3), omp_set_schedule(omp_sched_static, 5), omp_set_max_active_levels(2);
#pragma omp parallel
  {
    omp_sched_t kind; int chunk, me = omp_get_thread_num();
    omp_set_schedule(omp_sched_dynamic, 20 + me), omp_set_num_threads(7 + me), omp_set_dynamic(me & 1);
#pragma omp barrier
    omp_get_schedule(&kind, &chunk);
    CHECK((kind & 0x7fffffff) == omp_sched_dynamic && chunk == 20 + me && omp_get_max_threads() == 7 + me && omp_get_dynamic() == (me & 1));
  }
  for (int round = 0; round < 2; round++) {
#pragma omp parallel
    {
      omp_sched_t kind; int chunk;
      omp_get_schedule(&kind, &chunk);
      CHECK((kind & 0x7fffffff) == omp_sched_static && chunk == 5 && omp_get_max_threads() == 3 && !omp_get_dynamic());
    }
  }
  return DONE();
}
