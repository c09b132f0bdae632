// An unsupported construct in an external function that main never calls is still found at load.
// exit: 125
// stderr-has: omp_get_num_interop_properties
// stderr-has: in_dead_function.c:8
#include <omp.h>
#include <stdio.h>
int never_called(int *x) {
  return omp_get_num_interop_properties(x);
}
int main(void) {
  puts("must not be printed");
  return 0;
}
