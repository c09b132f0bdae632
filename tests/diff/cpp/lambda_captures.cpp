// exit: 35
// Kinds of lambdas: captures by value, reference and move, mutable, generic, recursive, conversion to function pointers, this.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
struct C {
  int k = 5;
  auto adder() {
    return [this](int x) { return x + k; };
  }
  auto copier() {
    return [*this](int x) { return x + k; };
  }
};
int main() {
  int a = 1, b = 2;
  auto f = [a, &b](int x) mutable {
    a += x;
    b += a;
    return a;
  };
  int r1 = f(10), r2 = f(10);
  auto g = [](auto x, auto y) { return x * y; };
  auto fib = [](auto &&self, int n) -> int { return n < 2 ? n : self(self, n - 1) + self(self, n - 2); };
  auto p = std::make_unique<int>(42);
  auto h = [q = std::move(p), n = a + 1] { return *q + n; };
  C c;
  auto ad = c.adder();
  auto co = c.copier();
  c.k = 100;
  int (*fp)(const void *, const void *) = [](const void *x, const void *y) {
    return *(const int *)y - *(const int *)x;
  };
  int v[] = {3, 1, 2};
  std::qsort(v, 3, sizeof *v, fp);
  std::printf("%d %d %d %d %d %g %d %d %d %d %d %d %d\n", r1, r2, a, b, g(3, 4), g(1.5, 2), fib(fib, 15), h(), ad(1),
              co(1), v[0], v[2], p == nullptr);
  return [=] { return a + b; }();
}
