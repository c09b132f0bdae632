// Calls through pointers of other types than the callee's pass what machine code would: a narrower parameter takes the
// low bits of a wider argument, and integers and floating-point numbers do not meet.
// levels: O0 O2
// env: OMP_NUM_THREADS=2
// stdout: ok
#include "../../check.h"

__attribute__((noinline)) static int low(int i) { return i; }
__attribute__((noinline)) static long word(int i, int k) { return (long)i * 2 + k; }
__attribute__((noinline)) static double mixed(long i, double d, int s) { return i + d * 8 + s * 1000.; }

typedef int (*takes_long)(long);
typedef long (*takes_longs)(long, long);
typedef double (*reordered)(double, long, long);

static takes_long volatile a = (takes_long)low;
static takes_longs volatile b = (takes_longs)word;
static reordered volatile c = (reordered)mixed;

int main(void) {
#pragma omp parallel
  for (int n = 0; n < 3; n++) {
    CHECK(a(0x7fffff00000000 + n) == n);
    CHECK(b(0x700000000 + n, 0x500000001) == 2 * n + 1);
    CHECK(c(.5, n, 0x300000002) == n + 4 + 2000);
  }
  DONE();
}
