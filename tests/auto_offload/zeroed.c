// Blocks that LLVM allocates by `calloc` in place of `malloc` and `memset` are tracked like others.
// options: --tier=opt
#include "../check.h"
enum { N = 200000 };
static void add(int *x, int v) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) x[i] += v + i;
}
int main(void) {
  int *x = malloc(sizeof(int) * N);
  for (int i = 0; i < N; i++) x[i] = 0;
  add(x, 2);
  for (int i = 0; i < N; i++) CHECK(x[i] == i + 2);
  free(x);
  return DONE();
}
