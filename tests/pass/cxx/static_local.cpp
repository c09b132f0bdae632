// A function-local static is constructed once though all threads reach it at the same time.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static int made;
struct Slow { int value; Slow() { for (int i = 0; i < 5; i++) sched_yield(); value = 11; made++; } };
__attribute__((noinline)) static Slow &instance() { static Slow slow; return slow; }
int main() {
#pragma omp parallel num_threads(8)
  CHECK(instance().value == 11);
  CHECK(made == 1);
  return DONE();
}
