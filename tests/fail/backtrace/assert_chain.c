// Guest frames of an assertion that fails behind three calls.
// levels: O0 O2
// signal: 6
// stderr-has: #0 check at tests/fail/backtrace/assert_chain.c:11
// stderr-has: #1 second at tests/fail/backtrace/assert_chain.c:12
// stderr-has: #2 first at tests/fail/backtrace/assert_chain.c:13
// stderr-has: #3 main at tests/fail/backtrace/assert_chain.c:15
#undef NDEBUG
#include <assert.h>
volatile int sink;
__attribute__((noinline)) static void check(int n) { assert(n != 3); }
__attribute__((noinline)) static void second(int n) { check(n), sink = 1; }
__attribute__((noinline)) static void first(int n) { second(n + 1), sink = 2; }
int main(void) {
  first(2), sink = 3;
  return 0;
}
