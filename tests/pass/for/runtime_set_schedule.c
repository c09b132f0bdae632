// OpenMP 5.2, section 18.2.11: omp_set_schedule determines schedule(runtime), is per thread, and is inherited by regions.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int owner[60]; omp_sched_t kind; int chunk;
  omp_set_schedule(omp_sched_static, 7);
#pragma omp parallel num_threads(2)
  {
    omp_sched_t k; int c;
    omp_get_schedule(&k, &c);
    CHECK((k & 0x7fffffff) == omp_sched_static && c == 7);
#pragma omp for schedule(runtime)
    for (int i = 0; i < 60; i++) owner[i] = omp_get_thread_num();
    omp_set_schedule(omp_sched_dynamic, 3);
  }
  for (int i = 0; i < 60; i++) CHECK(owner[i] == i / 7 % 2);
  omp_set_schedule(omp_sched_auto, 0);
  omp_get_schedule(&kind, &chunk);
  CHECK((kind & 0x7fffffff) == omp_sched_auto);
  int n = 0;
#pragma omp parallel for schedule(runtime) num_threads(3) reduction(+ : n)
  for (int i = 0; i < 60; i++) n++;
  CHECK(n == 60);
  return DONE();
}
