// Several unsupported constructs in one program: all of them must be reported at once, before anything runs.
// exit: 125
// stderr-has: omp_get_num_interop_properties
// stderr-has: several.c:12
// stderr-has: omp_get_interop_int
// stderr-has: several.c:15
// stderr-has: __tgt_interop_init
// stderr-has: several.c:22
#include <omp.h>
#include <stdio.h>
static int properties(void *v) {
  return omp_get_num_interop_properties(v);
}
static void spaces(void) {
  int n = 0; (void)omp_get_interop_int(omp_interop_none, omp_ipr_fr_id, &n);
}
int main(void) {
  int v[10];
  puts("must not be printed");
#pragma omp parallel num_threads(2)
  {
    void __tgt_interop_init(void); __tgt_interop_init();
#pragma omp single
    properties(v);
    spaces();
  }
  return 0;
}
