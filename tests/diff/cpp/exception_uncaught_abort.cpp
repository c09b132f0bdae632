// signal: 6
// An exception nobody catches aborts.
#include <cstdio>
#include <stdexcept>
int main() {
  std::puts("before");
  std::fflush(stdout);
  throw std::runtime_error("nobody listens");
}
