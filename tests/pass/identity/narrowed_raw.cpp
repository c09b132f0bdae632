// The mask narrowed by the raw system call, and a league and loops that use the remaining processors.
// levels: O0 O2
// env: OMP_DYNAMIC=true
// stdout: 1 processors, 1 threads, sum 4950
#include "../../check.h"
#include <omp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

int main() {
  cpu_set_t all, one;
  CHECK(syscall(SYS_sched_getaffinity, 0, sizeof all, &all) > 0);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &all))
    cpu++;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  CHECK(syscall(SYS_sched_setaffinity, 0, sizeof one, &one) == 0);
  int threads = 0, sum = 0;
#pragma omp parallel reduction(max : threads)
  threads = omp_get_num_threads();
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++)
    sum += i;
  printf("%d processors, %d threads, sum %d\n", omp_get_num_procs(), threads, sum);
}
