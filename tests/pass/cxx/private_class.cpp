// OpenMP 5.2, section 5.3: private objects are default-constructed and destroyed once per thread; the original does not change.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static int made, gone;
struct Thing {
  int value = 7;
  Thing() { __atomic_fetch_add(&made, 1, __ATOMIC_SEQ_CST); }
  ~Thing() { __atomic_fetch_add(&gone, 1, __ATOMIC_SEQ_CST); }
};
int main() {
  Thing thing;
  thing.value = 100;
#pragma omp parallel num_threads(4) private(thing)
  {
    CHECK(thing.value == 7);
    thing.value = omp_get_thread_num();
  }
  CHECK(made == 5 && gone == 4 && thing.value == 100);
  return DONE();
}
