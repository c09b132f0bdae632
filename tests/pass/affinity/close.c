// OpenMP 5.2, sections 10.1.3 and 18.3: under OMP_PROC_BIND=close the members of a team take the places after the
// primary thread's, several share one if there are more members than places, and the kernel's masks agree.
// native: skip (libomp does not know the number clang 22 has for primary)
// stdout: ok
// env: OMP_PLACES=threads OMP_PROC_BIND=close OMP_NUM_THREADS=3
// levels: O0 O2
#define _GNU_SOURCE
#include "../../check.h"
#include <sched.h>
#include <stdlib.h>
int main(void) {
  int places = omp_get_num_places();
  CHECK(places >= 1 && omp_get_proc_bind() == omp_proc_bind_close);
  CHECK(omp_get_place_num() == 0 && omp_get_partition_num_places() == places);
  int *numbers = malloc(places * sizeof *numbers);
  omp_get_partition_place_nums(numbers);
  for (int i = 0; i < places; i++) CHECK(numbers[i] == i && omp_get_place_num_procs(i) == 1);
  free(numbers);
  CHECK(omp_get_place_num_procs(-1) == 0 && omp_get_place_num_procs(places) == 0);
  int at[3];
  for (int round = 0; round < 3; round++) {
#pragma omp parallel
    {
      int place = omp_get_place_num(), cpu = -1;
      at[omp_get_thread_num()] = place;
      omp_get_place_proc_ids(place, &cpu);
      cpu_set_t set;
      CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
      CHECK(CPU_COUNT(&set) == 1 && CPU_ISSET(cpu, &set));
      CHECK(omp_get_partition_num_places() == places);
    }
    CHECK(at[0] == 0);
    if (places >= 3) CHECK(at[1] == 1 && at[2] == 2);
    if (places == 2) CHECK(at[1] == 0 && at[2] == 1);
  }
#pragma omp parallel proc_bind(primary)
  CHECK(omp_get_place_num() == 0 && omp_get_proc_bind() == omp_proc_bind_close);
  return DONE();
}
