// OpenMP 5.2, section 16.1: `parallel for` and `parallel sections` are cancelled; an if clause decides; a search
// stops at its result.
// stdout: ok
// levels: O0 O2
// env: OMP_CANCELLATION=true
// native: libomp fails an assertion (kmp_dispatch.cpp) in the loop after a cancelled dynamic one
#include "../../check.h"
int main(void) {
  for (int round = 0; round < 20; round++) {
    long found = -1, looked = 0, none = 0;
#pragma omp parallel for schedule(dynamic, 4)
    for (long i = 0; i < 2000; i++) {
#pragma omp cancellation point for
#pragma omp atomic
      looked++;
      if (i * i == 144) {
#pragma omp atomic write
        found = i;
#pragma omp cancel for
      }
    }
    CHECK(found == 12 && looked <= 2000);
#pragma omp parallel for
    for (int i = 0; i < 100; i++) {
#pragma omp cancel for if (round < 0)
#pragma omp atomic
      none++;
    }
    CHECK(none == 100);
    int first = 0, second = 0, third = 0;
#pragma omp parallel sections
    {
#pragma omp section
      {
#pragma omp cancel sections
        first = 1;
      }
#pragma omp section
      second++;
#pragma omp section
      third++;
    }
    CHECK(first == 0 && second <= 1 && third <= 1);
  }
  return DONE();
}
