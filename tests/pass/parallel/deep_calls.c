// OpenMP 5.2, section 10.1: orphaned constructs bind to the innermost region at any depth of the call chain.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static int hits[40];
__attribute__((noinline)) static void down(int depth) {
  if (depth) { down(depth - 1); return; }
#pragma omp for
  for (int i = 0; i < 40; i++) hits[i]++;
}
int main(void) {
#pragma omp parallel num_threads(4)
  down(50);
  down(3);
  for (int i = 0; i < 40; i++) CHECK(hits[i] == 2);
  return DONE();
}
