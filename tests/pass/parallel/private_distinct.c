// OpenMP 5.2, section 5.4.3: each thread's private copy is its own object, and the original keeps its value.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int x = 7, *where[4];
#pragma omp parallel num_threads(4) private(x)
  {
    int me = omp_get_thread_num();
    x = me;
    where[me] = &x;
#pragma omp barrier
    CHECK(x == me);
    for (int i = 0; i < 4; i++) CHECK(i == me || where[i] != &x);
  }
  CHECK(x == 7);
  return DONE();
}
