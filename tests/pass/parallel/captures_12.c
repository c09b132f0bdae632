// OpenMP 5.2, section 10.1: a region that captures twelve shared variables.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, sum = 0;
#pragma omp parallel num_threads(3)
#pragma omp critical
  {
    sum += a + b + c + d + e + f + g + h + i + j + k;
    a++, k--, f += 2, g -= 2;
  }
  CHECK(sum == 3 * 66 && a == 4 && k == 8 && f == 12 && g == 1);
  return DONE();
}
