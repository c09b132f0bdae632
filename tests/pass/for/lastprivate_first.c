// OpenMP 5.2, section 5.4.5: a variable both firstprivate and lastprivate starts with the original's value and ends with the last one.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int x = 1000;
#pragma omp parallel for num_threads(4) schedule(static, 1) firstprivate(x) lastprivate(x)
  for (int i = 0; i < 41; i++) {
    CHECK(x == 1000 || x < 100);
    x = i;
  }
  CHECK(x == 40);
  return DONE();
}
