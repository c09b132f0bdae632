// Two thousand exceptions thrown and caught in a loop, of alternating types.
#include <cstdio>
#include <stdexcept>
#include <string>
__attribute__((noinline)) static int f(int i) {
  if (i % 3 == 0) throw i;
  if (i % 3 == 1) throw std::string("s") + std::to_string(i);
  return i;
}
int main() {
  unsigned h = 0;
  for (int i = 0; i < 2000; i++) {
    try {
      h = h * 3 + (unsigned)f(i);
    } catch (int e) { h ^= (unsigned)e; } catch (const std::string &s) {
      h += (unsigned)s.size();
    }
  }
  std::printf("%u\n", h);
  return 0;
}
