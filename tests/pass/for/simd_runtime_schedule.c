// OpenMP 5.2, section 11.5.3: with the simd modifier every chunk but the last is a multiple of the
// vector width, regardless of OMP_SCHEDULE.
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=3 OMP_SCHEDULE=guided,2
#include "../../check.h"
#include <omp.h>

enum { N = 1003, WIDTH = 4 };
static int seen[N];

typedef struct { int reserved, flags, more, length; const char *source; } ident;
int __kmpc_global_thread_num(ident *);
void __kmpc_dispatch_init_4(ident *, int, int, int, int, int, int);
int __kmpc_dispatch_next_4(ident *, int, int *, int *, int *, int *);

static void loop(void) {
  static ident here = {0, 2, 0, 0, ";file;function;0;0;;"};
  for (int i = 0; i < N; i++) seen[i] = 0;
#pragma omp parallel
  {
    int gtid = __kmpc_global_thread_num(&here), last, lower, upper, step;
    __kmpc_dispatch_init_4(&here, gtid, 47 /* simd: runtime */, 0, N - 1, 1, WIDTH);
    while (__kmpc_dispatch_next_4(&here, gtid, &last, &lower, &upper, &step)) {
      CHECK(lower % WIDTH == 0 && step == 1);
      CHECK(upper == N - 1 ? last : (upper + 1) % WIDTH == 0);
      for (int i = lower; i <= upper; i++) seen[i]++;
    }
#pragma omp barrier
  }
  for (int i = 0; i < N; i++) CHECK(seen[i] == 1);
}

int main(void) {
  loop();
  omp_set_schedule(omp_sched_static, 0);
  loop();
  omp_set_schedule(omp_sched_dynamic, 3);
  loop();
  return DONE();
}
