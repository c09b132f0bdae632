// Several unsupported constructs in one program: all of them must be reported at once, before anything runs.
// exit: 125
// stderr-has: __kmpc_pause_resource
// stderr-has: several.c:13
// stderr-has: ompx_interop_add_completion_callback
// stderr-has: several.c:16
// stderr-has: __tgt_interop_get
// stderr-has: several.c:23
#include <omp.h>
#include <stdio.h>
int __kmpc_pause_resource(void *);
static int properties(void *v) {
  return __kmpc_pause_resource(v);
}
static void spaces(void) {
  void ompx_interop_add_completion_callback(void); ompx_interop_add_completion_callback();
}
int main(void) {
  int v[10];
  puts("must not be printed");
#pragma omp parallel num_threads(2)
  {
    void __tgt_interop_get(void); __tgt_interop_get();
#pragma omp single
    properties(v);
    spaces();
  }
  return 0;
}
