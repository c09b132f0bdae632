// An unsupported construct in an external function that main never calls is still found at load.
// flags: -fopenmp-targets=x86_64-pc-linux-gnu
// exit: 125
// stderr-has: __tgt_target_data_update_mapper
// stderr-has: in_dead_function.c:8
#include <stdio.h>
void never_called(int *x) {
#pragma omp target update to(x[0 : 1])
  *x = 1;
}
int main(void) {
  puts("must not be printed");
  return 0;
}
