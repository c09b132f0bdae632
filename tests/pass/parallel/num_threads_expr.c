// OpenMP 5.2, section 10.1: the num_threads expression is evaluated in the encountering context, before privatization.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static int calls;
static int pick(int n) { calls++; return n; }
int main(void) {
  int n = 3, size = 0;
#pragma omp parallel num_threads(pick(n)) private(n)
  {
    n = 100;
#pragma omp single
    size = omp_get_num_threads();
  }
  CHECK(size == 3 && n == 3 && calls == 1);
  return DONE();
}
