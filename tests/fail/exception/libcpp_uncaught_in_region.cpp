// An exception of libc++ that leaves a parallel region ends the program, even with a handler outside; the location is reported.
// flags: -stdlib=libc++
// env: OMP_NUM_THREADS=2
// levels: O0 O2
// signal: 6
// stderr-has: of type `Wrong`, at tests/fail/exception/libcpp_uncaught_in_region.cpp:11
// stderr-has: in `thrower`
#include <stdexcept>
struct Wrong : std::runtime_error { Wrong() : std::runtime_error("wrong") {} };
extern "C" __attribute__((noinline)) void thrower(int n) {
  if (n == 1) throw Wrong();
}
int main() {
  try {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 2; i++) thrower(i);
  } catch (const Wrong &) {
    return 3;
  }
  return 0;
}
