// Destruction order of containers, members, statics and temporaries during normal exit and while unwinding from main.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>
struct T {
  int v;
  explicit T(int v) : v(v) {}
  T(T &&o) noexcept : v(o.v) { o.v = -1; }
  ~T() {
    if (v >= 0) std::printf("~%d ", v);
  }
};
struct H {
  T a{1}, b{2};
  std::vector<T> c;
  std::unique_ptr<T> d = std::make_unique<T>(3);
  H() {
    c.emplace_back(4);
    c.emplace_back(5);
  }
};
static T g(100);
static T mk(int i) {
  T t(i);
  if (i == 8) throw std::runtime_error("eight");
  return t;
}
int main() {
  try {
    H h;
    static T s(50);
    T x = mk(6);
    (void)mk(7);
    (void)mk(8);
  } catch (const std::exception &e) { std::printf("[%s] ", e.what()); }
  std::puts("end");
  return 0;
}
