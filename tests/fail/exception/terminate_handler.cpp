// std::set_terminate's handler is a guest function called by the native C++ library.
// levels: O0 O2
// exit: 21
// stdout: handler
#include <cstdio>
#include <cstdlib>
#include <exception>
int main() {
  std::set_terminate([] { std::puts("handler"); std::fflush(stdout); std::_Exit(21); });
  throw 3;
}
