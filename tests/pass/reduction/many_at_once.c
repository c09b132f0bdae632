// OpenMP 5.2, section 5.5.8: ten variables of different types and operators in one reduction, too many for atomics.
// stdout: ok
// levels: O0 O2
// flags: -latomic
#include "../../check.h"
int main(void) {
  char a = 0; short b = 1; int c = -1; unsigned d = 0; long e = 0; unsigned long f = 1; float g = 0; double h = 1; long double i = 0; _Bool j = 1;
#pragma omp parallel num_threads(4) reduction(+ : a, e, g, i) reduction(* : b, f, h) reduction(& : c) reduction(| : d) reduction(&& : j)
  {
    int me = omp_get_thread_num();
    a += 1, b *= 2, c &= ~(1 << me), d |= 1u << me, e += 1L << 40, f *= 3, g += 0.5f, h *= 0.5, i += 0.25L, j = j && me < 4;
  }
  CHECK(a == 4 && b == 16 && c == ~15 && d == 15 && e == 4L << 40 && f == 81 && g == 2 && h == 0.0625 && i == 1 && j);
  return DONE();
}
