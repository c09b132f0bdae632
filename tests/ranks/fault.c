// OpenMP 5.2, section 13.8: a fault on a device of another rank is reported with its line.
// options: --device=emulated
// signal: 6
// stderr-has: rank 1 on
// stderr-has: emulated device 0
// stderr-has: fault.c:15
#include <omp.h>
#include <stdio.h>
int main(void) {
  int v[10];
  printf("before\n");
  int n = 2000;
#pragma omp target device(1) map(tofrom : v)
  for (int i = 0; i < 10; i++)
    v[n + i] = i;
  printf("after\n");
}
