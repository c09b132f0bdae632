// A program begins without floating-point exceptions: neither its loading nor its compilation leaves any, nor do the
// runtime's own computations (a guided loop's chunks, statistics) where the program computes with integers alone. An
// inexact result alone may be the runtime's.
// levels: O0 O2
// flags: -lm
// env: OMP_SCHEDULE=guided
// stdout: ok
#include "../../check.h"
#include <fenv.h>
#include <stdlib.h>

#define RAISED fetestexcept(FE_ALL_EXCEPT & ~FE_INEXACT)
static int at_start = -1;

__attribute__((constructor)) static void before(void) { at_start = fetestexcept(FE_ALL_EXCEPT); }

__attribute__((noinline)) static long collatz(long n) {
  long steps = 0;
  for (; n != 1; steps++)
    n = n & 1 ? 3 * n + 1 : n >> 1;
  return steps;
}

static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int main(void) {
  int in_main = RAISED;
  CHECK(at_start == 0);
  CHECK(in_main == 0);
  long total = 0;
  for (long n = 1; n < 30000; n++)
    total += collatz(n);
  CHECK(total > 0);
  CHECK(RAISED == 0);
  int list[] = {5, 3, 9, 1};
  qsort(list, 4, sizeof *list, order);
  CHECK(list[0] == 1);
  int flags = 0;
#pragma omp parallel num_threads(4) reduction(| : flags)
  {
    long sum = 0;
#pragma omp for schedule(runtime)
    for (int i = 1; i < 2000; i++)
      sum += collatz(i);
#pragma omp for schedule(dynamic, 3)
    for (int i = 1; i < 200; i++)
      sum += collatz(i);
#pragma omp single
#pragma omp taskloop
    for (int i = 1; i < 64; i++)
      CHECK(collatz(i) >= 0);
    flags |= sum < 0 ? -1 : RAISED;
  }
  CHECK(flags == 0);
  CHECK(RAISED == 0);
  volatile double zero = 0, one = 1;
  volatile double infinite = one / zero;
  CHECK(infinite > 1 && RAISED == FE_DIVBYZERO);
  feclearexcept(FE_ALL_EXCEPT);
  CHECK(fetestexcept(FE_ALL_EXCEPT) == 0);
  printf("ok\n");
  return 0;
}
