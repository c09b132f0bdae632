// signal: 6
// Rethrow without an active exception calls terminate and aborts.
#include <cstdio>
int main() {
  std::puts("rethrowing nothing");
  std::fflush(stdout);
  throw;
}
