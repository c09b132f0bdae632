// A fault in a guest comparator called by the native qsort.
// levels: O0 O2
// signal: 11
// stderr-has: null_in_callback.c:8
#include <stdlib.h>
int *volatile nowhere;
static int compare(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b + *nowhere;
}
int main(void) {
  int v[4] = {3, 1, 2, 0};
  qsort(v, 4, sizeof v[0], compare);
  return v[0];
}
