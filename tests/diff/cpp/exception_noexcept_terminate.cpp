// exit: 3
// An exception leaving a noexcept function calls terminate; the handler prints and exits.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <unistd.h>
struct G {
  ~G() { std::puts("guard"); }
};
static void inner() {
  G g;
  throw 5;
}
static void f() noexcept { inner(); }
int main() {
  std::set_terminate([] {
    try {
      std::rethrow_exception(std::current_exception());
    } catch (int i) { std::printf("terminate with %d\n", i); }
    std::fflush(stdout);
    _exit(3);
  });
  try {
    inner();
  } catch (int) { std::puts("first"); }
  try {
    f();
  } catch (...) { std::puts("wrong"); }
  return 0;
}
