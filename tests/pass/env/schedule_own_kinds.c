// OMP_SCHEDULE takes libomp's own kinds, and every kind has the chunk size that libomp's omp_get_schedule returns.
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=3 OMP_SCHEDULE=trapezoidal,3
#include "../../check.h"

enum { N = 1000 };
static int seen[N];

static void loop(void) {
  for (int i = 0; i < N; i++) seen[i] = 0;
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < N; i++) {
#pragma omp atomic
    seen[i]++;
  }
  for (int i = 0; i < N; i++) CHECK(seen[i] == 1);
}

static int is(int kind, int chunk) {
  omp_sched_t k;
  int c;
  omp_get_schedule(&k, &c);
  return (int)k == kind && c == chunk;
}

int main(void) {
  CHECK(is(101, 3));
  loop();
  omp_set_schedule(omp_sched_auto, 7);
  CHECK(is(omp_sched_auto, 1));
  loop();
  omp_set_schedule((omp_sched_t)101, 0);
  CHECK(is(101, 1));
  loop();
  omp_set_schedule(omp_sched_static, 0);
  CHECK(is(omp_sched_static, 0));
  loop();
  return DONE();
}
