// OpenMP 5.2, section 5.2: a static variable of a function as threadprivate.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
__attribute__((noinline)) static int next(void) {
  static int n;
#pragma omp threadprivate(n)
  return ++n;
}
int main(void) {
#pragma omp parallel num_threads(3)
  for (int i = 1; i <= 50; i++) CHECK(next() == i);
  CHECK(next() == 51);
  return DONE();
}
