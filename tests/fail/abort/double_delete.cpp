// The C library's own check aborts in a destructor, behind operator delete.
// levels: O0 O2
// signal: 6
// stderr-has: the program called abort at tests/fail/abort/double_delete.cpp:9
#include <vector>
struct Owner {
  char *what;
  explicit Owner(char *w) : what(w) {}
  ~Owner() { delete[] what; }
};
char *volatile block;
int main() {
  block = new char[100000];
  std::vector<Owner> owners;
  owners.reserve(2);
  owners.emplace_back(block);
  owners.emplace_back(block);
  return 0;
}
