// OpenMP 5.2, section 15.3.1: a program's names that end as those of the runtime's fast paths do.
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=4
#include "../../check.h"
#include <omp.h>
// A function of the same type, one of another type, a variable, and functions of one file.
static int calls;
__attribute__((noinline)) void short___kmpc_barrier(void *loc, int gtid) {
  (void)loc;
  calls += gtid;
}
double short___kmpc_master(double x) { return 2 * x; }
int short___kmpc_critical = 7;
__attribute__((noinline)) static void short___kmpc_for_static_fini(void *loc, int gtid) {
  (void)loc;
  calls += gtid;
}
void short_omp_set_lock(void *lock) { calls += lock == &calls; }
int main(void) {
  int sum = 0, primary = 0, locked = 0;
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(4)
  {
#pragma omp for
    for (int i = 0; i < 100; i++)
#pragma omp critical
      sum += i;
#pragma omp masked
    primary++;
#pragma omp barrier
    omp_set_lock(&lock);
    locked++;
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
  CHECK(calls == 0 && sum == 4950 && primary == 1 && locked == 4);
  short___kmpc_barrier(&lock, 1);
  short___kmpc_for_static_fini(&lock, 10);
  short_omp_set_lock(&calls);
  CHECK(calls == 12 && short___kmpc_master(4) == 8 && short___kmpc_critical == 7);
  return DONE();
}
