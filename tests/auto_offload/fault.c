// A kernel that fails leaves the host's data as it was, and the region runs there.
// flags: -g
// stderr-has: on the host
// stderr-has: fault.c
// not-on: processors helped
#include "../check.h"
enum { N = 30000 };
static void add(int *x, long far, int v) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    x[i] += v;
    // Behind the block on the device; the host's page extends beyond it.
    if (i == N - 1) x[N + far] = 7;
  }
}
static void ones(int *x) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) x[i] += 1;
}
int main(void) {
  int *x = calloc(N, sizeof(int));
  add(x, -1, 1);
  CHECK(x[0] == 1 && x[N - 1] == 7);
  ones(x);
  add(x, 8, 1);
  CHECK(x[0] == 3 && x[N - 2] == 3 && x[N - 1] == 9);
  ones(x);
  add(x, -1, 1);
  CHECK(x[0] == 5 && x[N - 1] == 7);
  free(x);
  return DONE();
}
