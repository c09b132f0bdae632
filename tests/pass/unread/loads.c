// A load whose result nobody reads does not happen, as in native code at -O0: in the operand of __builtin_constant_p,
// which is not evaluated, and in a statement of its own. A volatile one does.
// levels: O0 O2
// stdout: ok
#include "../../check.h"

__attribute__((noinline)) static int constant(const char *p) { return __builtin_constant_p(p[123456789]); }
__attribute__((noinline)) static void ignored(const int *p) { *p; }
__attribute__((noinline)) static void read_once(const volatile int *p) { *p; }

int main(void) {
  int here = 3;
#pragma omp parallel
  CHECK(constant("short") == 0);
  ignored(0);
  read_once(&here);
  DONE();
}
