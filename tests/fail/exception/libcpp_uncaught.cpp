// An uncaught exception of libc++ is reported with type and location; a handler for another type does not catch it.
// flags: -stdlib=libc++
// levels: O0 O2
// signal: 6
// stderr-has: of type `std::out_of_range`, at tests/fail/exception/libcpp_uncaught.cpp:9
// stderr-has: in `main`
#include <stdexcept>
int main() {
  try { throw std::out_of_range("far"); }
  catch (const std::runtime_error &) { return 1; }
  return 0;
}
