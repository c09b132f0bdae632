// Several unsupported constructs in one program: all of them must be reported at once, before anything runs.
// flags: -fopenmp-targets=x86_64-pc-linux-gnu
// exit: 125
// stderr-has: __tgt_target_kernel
// stderr-has: several.c:13
// stderr-has: __tgt_target_data_update_mapper
// stderr-has: several.c:18
// stderr-has: __tgt_interop_init
// stderr-has: several.c:26
#include <omp.h>
#include <stdio.h>
static void kernel(int *v) {
#pragma omp target map(tofrom : v[0 : 2])
  v[0] = 1;
}
static void copies(int *v) {
  for (int i = 0; i < 10; i++) {
#pragma omp target update to(v[0 : 10])
  }
}
int main(void) {
  int v[10];
  puts("must not be printed");
#pragma omp parallel num_threads(2)
  {
    void __tgt_interop_init(void); __tgt_interop_init();
#pragma omp single
    kernel(v);
    copies(v);
  }
  return 0;
}
