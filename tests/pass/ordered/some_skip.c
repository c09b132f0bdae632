// OpenMP 5.2, section 15.10.2: iterations that never reach their ordered region must not block later ones.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int last = -1, count = 0;
#pragma omp parallel for ordered num_threads(4) schedule(dynamic, 2)
  for (int i = 0; i < 100; i++) {
    if (i % 3 == 1) continue;
#pragma omp ordered threads
    {
      CHECK(i > last);
      last = i, count++;
    }
  }
  CHECK(last == 99 && count == 67);
  return DONE();
}
