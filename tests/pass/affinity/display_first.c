// OpenMP 5.2, section 18.3.10: the affinity of the initial thread, captured before the first region, is its place.
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=2 OMP_PROC_BIND=spread OMP_PLACES=threads
#include "../../check.h"
int main(void) {
  char before[256], place[256];
  omp_capture_affinity(before, sizeof before, "%A");
  int cpu;
  CHECK(omp_get_place_num_procs(omp_get_place_num()) == 1);
  omp_get_place_proc_ids(omp_get_place_num(), &cpu);
  snprintf(place, sizeof place, "%d", cpu);
  CHECK(!strcmp(before, place));
  return DONE();
}
