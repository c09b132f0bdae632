// exit: 6
// flags: -pthread
// Destroying a joinable std::thread calls terminate.
#include <cstdio>
#include <exception>
#include <thread>
#include <unistd.h>
int main() {
  std::set_terminate([] {
    std::puts("joinable");
    std::fflush(stdout);
    _exit(6);
  });
  {
    std::thread t([] {});
  }
  return 0;
}
