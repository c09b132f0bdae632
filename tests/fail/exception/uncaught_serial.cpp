// An uncaught C++ exception in serial code ends in std::terminate and abort.
// levels: O0 O2
// signal: 6
// stderr-has: terminate
// stderr-has: std::runtime_error`, at tests/fail/exception/uncaught_serial.cpp:
#include <stdexcept>
int main() { throw std::runtime_error("nobody catches this"); }
