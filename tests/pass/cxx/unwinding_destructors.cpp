// Destructors run while an exception passes several guest frames on every thread.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static int alive;
struct Guard {
  Guard() { __atomic_fetch_add(&alive, 1, __ATOMIC_SEQ_CST); }
  ~Guard() { __atomic_fetch_sub(&alive, 1, __ATOMIC_SEQ_CST); }
};
__attribute__((noinline)) static void down(int n) {
  Guard g;
  if (n == 0) throw 42;
  down(n - 1);
}
int main() {
  int caught = 0;
#pragma omp parallel num_threads(4) reduction(+ : caught)
  for (int i = 0; i < 20; i++) {
    try { down(i); } catch (int x) { caught += x == 42; }
  }
  CHECK(caught == 80 && alive == 0);
  return DONE();
}
