// OpenMP 5.2, section 10.1: twenty-four captured variables, by reference and by value, in one region.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8; long i = 9, j = 10, k = 11, l = 12, m = 13, n = 14, o = 15, p = 16;
  double q = 17, r = 18, s = 19, t = 20; float u = 21, v = 22; short w = 23; long sum = 0;
#pragma omp parallel num_threads(4) firstprivate(a, c, e, g, i, k, m, o, q, s, u, w)
  {
    long mine = a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + (long)(q + r + s + t + u + v) + w;
    a = c = e = g = 0, q = s = 0, u = 0;
#pragma omp atomic
    sum += mine;
  }
  CHECK(sum == 4 * 276 && a == 1 && g == 7 && q == 17 && u == 21);
#pragma omp parallel num_threads(4)
#pragma omp critical
  {
    a++, b++, c++, d++, e++, f++, g++, h++, i++, j++, k++, l++, m++, n++, o++, p++, q++, r++, s++, t++, u++, v++, w++, sum++;
  }
  CHECK(a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + (long)(q + r + s + t + u + v) + w == 276 + 23 * 4);
  CHECK(sum == 4 * 276 + 4);
  return DONE();
}
