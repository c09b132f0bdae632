// OpenMP 5.2, section 15.3.1: barriers in functions, in serial code too, reached from different call sites.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
__attribute__((noinline)) static void wait_here(void) {
#pragma omp barrier
}
int main(void) {
  int arrived = 0;
  wait_here();
#pragma omp parallel num_threads(3)
  {
#pragma omp atomic
    arrived++;
    if (omp_get_thread_num() == 0) wait_here(); else { wait_here(); }
    int now;
#pragma omp atomic read
    now = arrived;
    CHECK(now == 3);
  }
  return DONE();
}
