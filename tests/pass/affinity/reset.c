// libomp's KMP_AFFINITY=reset: after each outermost region the encountering thread's mask is restored.
// flags: -D_GNU_SOURCE
// env: OMP_NUM_THREADS=2,2 KMP_AFFINITY=reset,granularity=thread,compact
// stdout: ok
#define _GNU_SOURCE
#include "../../check.h"
#include <sched.h>
static cpu_set_t now(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return set;
}
int main(void) {
  cpu_set_t before = now();
  for (int i = 0; i < 5; i++) {
#pragma omp parallel
    {
      cpu_set_t inside = now();
      CHECK(CPU_COUNT(&inside) == 1);
      if (i > 2) {
#pragma omp parallel
        {
          cpu_set_t nested = now();
          CHECK(CPU_COUNT(&nested) == 1);
        }
        cpu_set_t again = now();
        CHECK(CPU_COUNT(&again) == 1);
      }
    }
    cpu_set_t after = now();
    CHECK(CPU_EQUAL(&before, &after));
  }
  return DONE();
}
