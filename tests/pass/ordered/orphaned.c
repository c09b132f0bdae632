// OpenMP 5.2, section 15.10.2: an ordered region in a function called from the loop.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static int next;
__attribute__((noinline)) static void in_turn(int i) {
#pragma omp ordered
  {
    CHECK(next == i);
    next = i + 1;
  }
}
int main(void) {
#pragma omp parallel num_threads(4)
  for (int round = 0; round < 10; round++) {
#pragma omp for ordered schedule(dynamic)
    for (int i = 0; i < 20; i++) in_turn(i);
#pragma omp single
    next = 0;
  }
  return DONE();
}
