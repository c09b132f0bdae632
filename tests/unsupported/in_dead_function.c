// An unsupported construct in an external function that main never calls is still found at load.
// exit: 125
// stderr-has: __kmpc_omp_task
// stderr-has: in_dead_function.c:7
#include <stdio.h>
void never_called(int *x) {
#pragma omp task
  *x = 1;
}
int main(void) {
  puts("must not be printed");
  return 0;
}
