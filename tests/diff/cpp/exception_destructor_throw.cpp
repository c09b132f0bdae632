// exit: 4
// noexcept(false) destructors, throwing while not unwinding, and terminate when thrown during unwinding.
#include <cstdio>
#include <exception>
#include <unistd.h>
struct D {
  int v;
  ~D() noexcept(false) {
    std::printf("~%d ", v);
    if (v > 1) throw v;
  }
};
int main() {
  std::set_terminate([] {
    std::puts("two at once");
    std::fflush(stdout);
    _exit(4);
  });
  try {
    D a{1};
    D b{2};
  } catch (int e) { std::printf("caught%d\n", e); }
  try {
    D a{5};
    throw 1;
  } catch (int) { std::puts("wrong"); }
  return 0;
}
