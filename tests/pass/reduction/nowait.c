// OpenMP 5.2, section 5.5.8: with nowait the reduction's value is defined after the next barrier.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int a = 0; double b = 0;
#pragma omp parallel num_threads(4)
  {
    for (int round = 1; round <= 10; round++) {
#pragma omp for reduction(+ : a) nowait
      for (int i = 0; i < 100; i++) a += i;
#pragma omp for reduction(+ : b) nowait
      for (int i = 0; i < 10; i++) b += 0.5;
#pragma omp barrier
      CHECK(a == round * 4950 && b == round * 5.0);
#pragma omp barrier
    }
  }
  return DONE();
}
