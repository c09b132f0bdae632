// OpenMP 5.2, section 15.2: an exception thrown and caught inside critical and single; the lock is free afterwards.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main() {
  int caught = 0, once = 0;
#pragma omp parallel num_threads(4)
  {
    for (int i = 0; i < 50; i++) {
#pragma omp critical
      {
        try { throw 1; } catch (int x) { caught += x; }
      }
    }
#pragma omp single
    {
      try { throw 2L; } catch (long x) { once += x; }
    }
  }
  CHECK(caught == 200 && once == 2);
  return DONE();
}
