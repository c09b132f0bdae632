// An uncaught exception reaches a handler which frees a block twice: the message must
// appear although the C library's allocator is locked.
// levels: O0 O2
// signal: 6
// stderr-has: of type `std::vector<Reason, std::allocator<Reason> >`, at tests/fail/abort/free_in_terminate.cpp:19
#include <cstdlib>
#include <exception>
#include <vector>
struct Reason {
  int number;
};
char *volatile block;
[[noreturn]] void handler() {
  free(block);
  free(block);
  exit(0);
}
__attribute__((noinline)) void thrower() {
  throw std::vector<Reason>(3);
}
int main() {
  block = static_cast<char *>(malloc(100000));
  std::set_terminate(handler);
  thrower();
}
