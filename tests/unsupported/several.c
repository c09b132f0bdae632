// Several unsupported constructs in one program: all of them must be reported at once, before anything runs.
// exit: 125
// stderr-has: __kmpc_omp_task
// stderr-has: several.c:17
// stderr-has: __kmpc_taskgroup
// stderr-has: several.c:20
// stderr-has: __kmpc_omp_taskwait
// stderr-has: several.c:19
// stderr-has: __kmpc_taskloop
// stderr-has: several.c:24
// stderr-has: __kmpc_cancel
// stderr-has: several.c:38
// stderr-has: __kmpc_doacross_init
// stderr-has: several.c:26
#include <stdio.h>
static void tasks(int *v) {
#pragma omp task
  v[0] = 1;
#pragma omp taskwait
#pragma omp taskgroup
  v[1] = 1;
}
static void loops(int *v) {
#pragma omp taskloop
  for (int i = 0; i < 10; i++) v[i] = i;
#pragma omp for ordered(1)
  for (int i = 1; i < 10; i++) {
#pragma omp ordered depend(sink : i - 1)
    v[i] += v[i - 1];
#pragma omp ordered depend(source)
  }
}
int main(void) {
  int v[10];
  puts("must not be printed");
#pragma omp parallel num_threads(2)
  {
#pragma omp cancel parallel
#pragma omp single
    tasks(v);
    loops(v);
  }
  return 0;
}
