// sched_setaffinity before the program first calls the runtime: it has the remaining processors, and so has a default
// team; threads stay there.
// levels: O0 O2
// stdout: processors 1 default 1 three 3
#define _GNU_SOURCE
#include "../../check.h"
#include <omp.h>
#include <sched.h>

int main(void) {
  cpu_set_t all, one;
  CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &all))
    cpu++;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
  int there = 0;
#pragma omp parallel num_threads(3) reduction(+ : there)
  there += sched_getcpu() == cpu;
  int team = getenv("OMP_NUM_THREADS") ? 1 : omp_get_max_threads();
  printf("processors %d default %d three %d\n", omp_get_num_procs(), team, there);
}
