// An abort after an exception was caught is an abort, not an uncaught exception.
// levels: O0 O2
// signal: 6
// stderr-has: the program called abort at tests/fail/exception/abort_after_catch.cpp:13
#include <cstdlib>
__attribute__((noinline)) void thrower() { throw 1; }
int main() {
  int n = 0;
  try {
    thrower();
  } catch (int x) {
    n = x;
    abort();
  }
  return n;
}
