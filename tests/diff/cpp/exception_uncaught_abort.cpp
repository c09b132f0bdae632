// signal: 6
// An uncaught exception aborts.
#include <cstdio>
#include <stdexcept>
int main() {
  std::puts("before");
  std::fflush(stdout);
  throw std::runtime_error("nobody listens");
}
