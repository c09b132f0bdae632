// OpenMP 5.2, section 10.1: regions that capture 0 to 8 variables: the runtime hands each its argument list.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static long a0 = 1;
int main(void) {
  int a = 1; long b = 2; short c = 3; char d = 4; float e = 5; double f = 6; int *g = &a; unsigned h = 8; long s = 0;
#pragma omp parallel num_threads(2)
#pragma omp atomic
  a0 += 1;
#pragma omp parallel num_threads(2)
#pragma omp atomic
  s += 1;
#pragma omp parallel num_threads(2)
#pragma omp atomic
  s += a;
#pragma omp parallel num_threads(2) firstprivate(a, b)
#pragma omp atomic
  s += a + b;
#pragma omp parallel num_threads(2) firstprivate(a, b, c, d)
#pragma omp atomic
  s += a + b + c + d;
#pragma omp parallel num_threads(2) firstprivate(a, b, c, d, e, f)
#pragma omp atomic
  s += a + b + c + d + (long)e + (long)f;
#pragma omp parallel num_threads(2) firstprivate(a, b, c, d, e, f, g, h)
#pragma omp atomic
  s += a + b + c + d + (long)e + (long)f + *g + h;
  CHECK(a0 == 3 && s == 2 + 2 + 6 + 20 + 42 + 60);
  return DONE();
}
