// OpenMP 5.2, section 5.5.10: clang passes no address for an array section of a pointer in `in_reduction`, which ompvm says before the access faults.
// levels: O0 O2
// env: OMP_NUM_THREADS=2
// signal: 11
// stderr-has: a list item of `in_reduction` has no address
// stderr-has: reduction_item_without_address.c:12
// native: fails an assertion of libomp
#include <stdio.h>

static void add(int *a, int n) {
#pragma omp task in_reduction(+ : a[ : n])
  a[0] += 2;
}

int main(void) {
  int a[2] = {0};
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : a)
  add(a, 2);
  printf("%d\n", a[0]);
}
