// libomp's KMP_AFFINITY: each thread has a place by its number, regardless of clauses; OMP_PROC_BIND is ignored with a
// warning.
// native: skip (libomp's numbers of threads have gaps for helper threads)
// stdout: ok
// env: KMP_AFFINITY=granularity=fine,compact,0,1 OMP_PROC_BIND=spread OMP_NUM_THREADS=3
// stderr-has: OMP_PROC_BIND is ignored because KMP_AFFINITY is defined
#define _GNU_SOURCE
#include "../../check.h"
#include <sched.h>
int main(void) {
  int places = omp_get_num_places();
  CHECK((int)omp_get_proc_bind() == 5);
#pragma omp parallel proc_bind(primary)
  {
    int cpu, place = omp_get_place_num();
    CHECK(place == (omp_get_thread_num() + 1) % places);
    omp_get_place_proc_ids(place, &cpu);
    CHECK(sched_getcpu() == cpu);
  }
  return DONE();
}
