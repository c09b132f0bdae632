// An uncaught exception of libc++: the program aborts as natively, with nothing unwound.
// flags: -stdlib=libc++
// signal: 6
#include <cstdio>
#include <string>
#include <vector>

struct Guard {
  ~Guard() {
    std::puts("unwound");
    std::fflush(stdout);
  }
};

int main(int argc, char **) {
  std::puts("before");
  std::fflush(stdout);
  Guard g;
  std::vector<int> v(3);
  return v.at(argc + 5);
}
