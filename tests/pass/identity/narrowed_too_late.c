// Changing the mask after a query of the number of processors, or after a region, has no effect.
// levels: O0 O2
// stdout: asked 1, region 1
#define _GNU_SOURCE
#include "../../check.h"
#include <omp.h>
#include <sched.h>

static volatile int members;

int main(void) {
  cpu_set_t all, one;
  CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
  int before = omp_get_num_procs(), cpu = 0;
  while (!CPU_ISSET(cpu, &all))
    cpu++;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
  int asked = omp_get_num_procs() == before;
#pragma omp parallel num_threads(2)
#pragma omp atomic
  members++;
  CHECK(sched_setaffinity(0, sizeof all, &all) == 0);
  printf("asked %d, region %d\n", asked, omp_get_num_procs() == before);
}
