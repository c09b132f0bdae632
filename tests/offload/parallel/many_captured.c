// A parallel region within a region that captures many variables.
#include "../../check.h"
int main(void) {
  int r = 0;
#pragma omp target map(tofrom : r)
  {
    int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12, m = 13, n = 14, o = 15,
        p = 16, q = 17, s = 18, t = 19, u = 20;
#pragma omp parallel num_threads(4)
    {
#pragma omp atomic
      u += 1;
#pragma omp barrier
#pragma omp master
      r = a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + s + t + u;
    }
  }
  CHECK(r > 210 && r <= 214);
  return DONE();
}
