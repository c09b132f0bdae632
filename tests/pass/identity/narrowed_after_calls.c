// Entries that need no number of processors do not fix it: locks, control variables and the thread's number come
// before the mask, which pthread_setaffinity_np narrows.
// levels: O0 O2
// stdout: 1 processors, at most 1
#define _GNU_SOURCE
#include "../../check.h"
#include <omp.h>
#include <pthread.h>
#include <sched.h>

int main(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  omp_set_lock(&lock);
  omp_set_dynamic(0);
  CHECK(omp_get_thread_num() == 0 && !omp_in_parallel() && omp_get_wtime() > 0);
  omp_unset_lock(&lock);
  omp_destroy_lock(&lock);
  cpu_set_t all, one;
  CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
  int cpu = CPU_SETSIZE - 1;
  while (!CPU_ISSET(cpu, &all))
    cpu--;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  CHECK(pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0);
  int most = 0;
#pragma omp parallel reduction(max : most)
  most = omp_get_num_threads();
  printf("%d processors, at most %d\n", omp_get_num_procs(), getenv("OMP_NUM_THREADS") ? 1 : most);
}
