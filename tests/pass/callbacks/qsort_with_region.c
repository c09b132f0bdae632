// A parallel region inside a comparator that the native qsort calls.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static int calls;
static int compare(const void *a, const void *b) {
  int difference = 0;
#pragma omp parallel num_threads(2) reduction(+ : difference)
  difference += omp_get_thread_num() ? *(const int *)a : -*(const int *)b;
  calls++;
  return difference;
}
int main(void) {
  int v[50];
  for (int i = 0; i < 50; i++) v[i] = i * 37 % 50;
  qsort(v, 50, sizeof v[0], compare);
  for (int i = 0; i < 50; i++) CHECK(v[i] == i);
  CHECK(calls > 50);
  return DONE();
}
