// OpenMP 5.2, section 11.3: orphaned sections, called in a region and in serial code.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static int a, b;
__attribute__((noinline)) static void work(void) {
#pragma omp sections
  {
#pragma omp section
    a++;
#pragma omp section
    b++;
  }
}
int main(void) {
  work();
#pragma omp parallel num_threads(3)
  { work(); work(); }
  CHECK(a == 3 && b == 3);
  return DONE();
}
