// OpenMP 5.2, section 18.3: if binding is off, a proc_bind clause binds nothing either; as in libomp, all
// processors are one place.
// stdout: ok
// env: OMP_PROC_BIND=false OMP_PLACES=threads
#define _GNU_SOURCE
#include "../../check.h"
#include <sched.h>
int main(void) {
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  CHECK(omp_get_num_places() == 1 && omp_get_place_num_procs(0) == CPU_COUNT(&before));
#pragma omp parallel proc_bind(spread) num_threads(2)
  {
    cpu_set_t now;
    sched_getaffinity(0, sizeof now, &now);
    CHECK(CPU_EQUAL(&before, &now));
    CHECK(omp_get_proc_bind() == omp_proc_bind_false);
  }
  return DONE();
}
