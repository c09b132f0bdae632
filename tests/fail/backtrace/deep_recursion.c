// A recursion too deep to be shown: the innermost frames, a gap, the outermost frames.
// levels: O0 O2
// signal: 6
// stderr-has: #0 down at tests/fail/backtrace/deep_recursion.c:13
// stderr-has: #1 down at tests/fail/backtrace/deep_recursion.c:14
// stderr-has: frames
// stderr-has: start at tests/fail/backtrace/deep_recursion.c:17
// stderr-has: main at tests/fail/backtrace/deep_recursion.c:19
#include <stdlib.h>
volatile int sink;
__attribute__((noinline)) static void
down(int n) {
  if (n == 0) abort();
  down(n - 1), sink = n;
}
__attribute__((noinline)) static void start(void) {
  down(500), sink = 1;
}
int main(void) { start(), sink = 2; return 0; }
