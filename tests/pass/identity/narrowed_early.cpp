// The same in a constructor; the places are the remaining processors, too.
// levels: O0 O2
// env: OMP_PLACES=threads
// stdout: 1 places, 1 processors
#include "../../check.h"
#include <omp.h>
#include <sched.h>

struct Narrow {
  int cpu = 0;
  Narrow() {
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    while (!CPU_ISSET(cpu, &all))
      cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
};
static Narrow narrow;

int main() {
  printf("%d places, %d processors\n", omp_get_num_places(), omp_get_num_procs());
#pragma omp parallel num_threads(2)
  CHECK(sched_getcpu() == narrow.cpu);
}
