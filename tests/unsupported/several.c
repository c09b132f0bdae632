// Several unsupported constructs in one program: all of them must be reported at once, before anything runs.
// exit: 125
// stderr-has: __kmpc_omp_task
// stderr-has: several.c:16
// stderr-has: __kmpc_taskgroup
// stderr-has: several.c:19
// stderr-has: __kmpc_omp_taskwait
// stderr-has: several.c:18
// stderr-has: __kmpc_taskloop
// stderr-has: several.c:23
// stderr-has: ompc_display_affinity
// stderr-has: several.c:31
#include <omp.h>
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
}
int main(void) {
  int v[10];
  puts("must not be printed");
#pragma omp parallel num_threads(2)
  {
    omp_display_affinity(0);
#pragma omp single
    tasks(v);
    loops(v);
  }
  return 0;
}
