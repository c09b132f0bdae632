// flags: -std=c++17
// exit: 45
// Dynamic initialization order within a file, function-local statics with guards, recursive use, destruction order.
#include <cstdio>
struct N {
  const char *n;
  N(const char *n) : n(n) { std::printf("+%s ", n); }
  ~N() { std::printf("-%s ", n); }
};
static N g1("g1");
static N g2("g2");
static N &local() {
  static N l("local");
  return l;
}
static int compute(int x) {
  static int calls = x * 100;
  return ++calls;
}
static int dyn = compute(3);
static N arr[2] = {"a0", "a1"};
inline N inl("inline");
template <int I> struct TS {
  static N n;
};
template <int I> N TS<I>::n("tmpl");
int main() {
  std::printf("main ");
  local();
  local();
  static N s("smain");
  std::printf("%d %d %s %s ", dyn, compute(9), TS<1>::n.n, arr[1].n);
  return dyn & 63;
}
