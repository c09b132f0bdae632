// A constructor narrows the mask and main widens it again before it first calls the runtime: all processors are available.
// levels: O0 O2
// stdout: all processors 1
#define _GNU_SOURCE
#include "../../check.h"
#include <omp.h>
#include <sched.h>

static cpu_set_t all;
__attribute__((constructor)) static void narrow(void) {
  cpu_set_t one;
  CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &all))
    cpu++;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
}

static volatile int members;

int main(void) {
  CHECK(sched_setaffinity(0, sizeof all, &all) == 0);
#pragma omp parallel num_threads(2)
#pragma omp atomic
  members++;
  int procs = omp_get_num_procs();
  printf("all processors %d\n", procs > 1 || CPU_COUNT(&all) == 1);
}
