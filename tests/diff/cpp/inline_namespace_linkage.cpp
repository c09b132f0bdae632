// exit: 8
// Linkage and lookup: anonymous namespaces, inline variables, extern "C", overloads, default arguments, ADL, using.
#include <cstdio>
namespace {
int hidden = 3;
struct Loc {
  int v = 4;
};
}
namespace lib {
inline namespace v2 {
int f(int) { return 2; }
}
namespace v1 {
int f(int) { return 1; }
}
struct T {
  int k;
};
int g(T t, int m = 10) { return t.k * m; }
inline int counter = 5;
template <class X> inline X zero{};
}
extern "C" int c_func(int x) { return x + 100; }
extern "C" {
static int cs(double) { return 7; }
}
static int ov(int) { return 1; }
static int ov(long) { return 2; }
static int ov(double) { return 3; }
static int ov(const char *) { return 4; }
static int ov(...) { return 5; }
enum class E : unsigned char { A = 200, B };
static int ov(E e) { return static_cast<int>(e); }
int main() {
  using lib::counter;
  counter += hidden;
  lib::zero<long> = 9;
  int (*p)(double) = cs;
  std::printf("%d %d %d %d %d %d %d ", lib::f(0), lib::v1::f(0), g(lib::T{3}), g(lib::T{3}, 2), c_func(1), p(1),
              counter);
  std::printf("%d%d%d%d%d %d %ld %d %d\n", ov(1), ov(1l), ov(1.f), ov("x"), ov(Loc()), ov(E::B), lib::zero<long>,
              lib::zero<int>, Loc().v);
  return counter;
}
