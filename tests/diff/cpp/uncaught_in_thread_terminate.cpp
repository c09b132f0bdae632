// exit: 8
// flags: -pthread
// An exception leaving a thread's function calls terminate.
#include <cstdio>
#include <exception>
#include <thread>
#include <unistd.h>
int main() {
  std::set_terminate([] {
    std::puts("terminate in thread");
    std::fflush(stdout);
    _exit(8);
  });
  std::thread t([] { throw 1; });
  t.join();
  return 0;
}
