// An exception from a guest comparator that unwinds through the native qsort to a guest handler, on every thread.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static int calls;
static int compare(const void *a, const void *b) {
  if (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) % 5 == 0) throw 7;
  return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}
int main() {
  int caught = 0;
#pragma omp parallel num_threads(3) reduction(+ : caught)
  for (int round = 0; round < 10; round++) {
    int v[64];
    for (int i = 0; i < 64; i++) v[i] = i * 29 % 64;
    try { qsort(v, 64, sizeof v[0], compare); } catch (int x) { caught += x; }
  }
  CHECK(caught == 210);
  return DONE();
}
