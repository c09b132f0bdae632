// A fault while a critical section is held and others wait for it: the process must die, not hang.
// levels: O0 O2
// signal: 11
// stderr-has: null_in_critical.c:10
#include <omp.h>
int *volatile nowhere;
int main(void) {
#pragma omp parallel num_threads(4)
#pragma omp critical
  *nowhere = 1;
  return 0;
}
