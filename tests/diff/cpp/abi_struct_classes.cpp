// exit: 5
// C++ classes by value: trivially copyable in registers, others by reference; empty classes; references and returns.
#include <cstdio>
#include <string>
struct Triv {
  int a;
  double b;
};
struct NonTriv {
  int a;
  NonTriv(int a) : a(a) {}
  NonTriv(const NonTriv &o) : a(o.a + 1) {}
  ~NonTriv() {}
};
struct Empty {};
struct Der : Empty {
  long x;
};
struct Two : Empty {
  float f, g;
};
__attribute__((noinline)) static double take(Triv t, Empty, NonTriv n, Der d, Two w, Empty) {
  t.a++;
  n.a += 10;
  return t.a + t.b + n.a + (double)d.x + w.f * w.g;
}
__attribute__((noinline)) static NonTriv mk(int x) { return NonTriv(x); }
__attribute__((noinline)) static Two sw(Two t) { return {{}, t.g, t.f}; }
__attribute__((noinline)) static std::string join(std::string a, const std::string &b, std::string &&c) {
  a += b;
  a += c;
  return a;
}
int main() {
  auto *volatile p = take;
  auto *volatile q = mk;
  auto *volatile r = sw;
  auto *volatile s = join;
  NonTriv n(5);
  Triv t{1, .5};
  std::string b = "-b-";
  int &&ref = n.a + 3;
  const int &cr = ref;
  std::printf("%g %d %g %g %s %d %zu %zu\n", p(t, {}, n, {{}, 7}, {{}, 2, 3}, {}), q(9).a, r({{}, 1, 2}).f,
              sw({{}, 4, 8}).g, s("a", b, "c").c_str(), cr, sizeof(Der), sizeof(Empty));
  return n.a;
}
