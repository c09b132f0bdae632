// A division under a condition raises no exception if the condition is false, as in clang's own code: of either width,
// with either order of the selection, in a loop and beside other quotients.
// stdout: ok
// levels: O0 O2
// flags: -lm
#define _GNU_SOURCE
#include "../../check.h"
#include <fenv.h>

#define N __attribute__((noinline))
N static double guarded(double a, double b) { return b != 0 ? a / b : a; }
N static double reversed(double a, double b) { return b == 0 ? a : a / b; }
N static float narrow(float a, float b) { return b > 0 ? a / b : -1; }
N static double either(double a, double b, double c) { return b > c ? a / b : b / c; }
N static double by_flag(double a, double b, int take) {
  double r = a + 1;
  if (take & 4)
    r = a / b;
  return r;
}
N static double sum(const double *a, const double *b, int n) {
  double all = 0, ratio = 0;
  for (int i = 0; i < n; i++) {
    ratio = a[i];
    if (b[i] != 0)
      ratio = ratio / b[i];
    all += ratio;
  }
  return all;
}

int main(void) {
  volatile double zero = 0, two = 2, six = 6;
  double a[5] = {0, 6, 0, 8, 1}, b[5] = {0, 2, 0, 4, 0};
  feclearexcept(FE_ALL_EXCEPT);
  for (int round = 0; round < 2; round++) {
    CHECK(guarded(zero, zero) == 0 && guarded(six, zero) == 6 && guarded(six, two) == 3);
    CHECK(reversed(zero, zero) == 0 && reversed(six, two) == 3);
    CHECK(narrow((float)zero, (float)zero) == -1 && narrow((float)six, (float)two) == 3);
    CHECK(either(six, two, zero) == 3 && either(six, zero, two) == 0);
    CHECK(by_flag(zero, zero, 3) == 1 && by_flag(six, two, 7) == 3);
    for (int i = 0; i < 3000; i++)
      CHECK(sum(a, b, 5) == 6);
    CHECK(!fetestexcept(FE_INVALID | FE_DIVBYZERO));
    // Each of these would end the program.
    feenableexcept(FE_INVALID | FE_DIVBYZERO);
  }
  DONE();
}
