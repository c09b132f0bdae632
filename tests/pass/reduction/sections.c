// OpenMP 5.2, section 5.5.8: reduction on sections, and on parallel sections.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int a = 0, b = 1;
#pragma omp parallel num_threads(3)
  {
#pragma omp sections reduction(+ : a)
    {
#pragma omp section
      a += 1;
#pragma omp section
      a += 20;
#pragma omp section
      a += 300;
#pragma omp section
      a += 4000;
    }
    CHECK(a == 4321);
  }
#pragma omp parallel sections num_threads(2) reduction(* : b)
  {
#pragma omp section
    b *= 3;
#pragma omp section
    b *= 5;
  }
  CHECK(b == 15);
  return DONE();
}
