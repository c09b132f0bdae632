// An uncaught C++ exception in serial code ends in std::terminate and abort.
// levels: O0 O2
// signal: 6
// stderr-has: terminate
#include <stdexcept>
int main() { throw std::runtime_error("nobody catches this"); }
