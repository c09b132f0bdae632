// An unsupported construct in an external function that main never calls is still found at load.
// exit: 125
// stderr-has: __kmpc_pause_resource
// stderr-has: in_dead_function.c:8
int __kmpc_pause_resource(void *);
#include <stdio.h>
int never_called(int *x) {
  return __kmpc_pause_resource(x);
}
int main(void) {
  puts("must not be printed");
  return 0;
}
