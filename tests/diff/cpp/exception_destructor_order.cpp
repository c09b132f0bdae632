// Destructors run in order while unwinding through several frames, loops and temporaries.
#include <cstdio>
struct T {
  int v;
  T(int v) : v(v) {}
  ~T() { std::printf("~%d ", v); }
  int get() const { return v; }
};
__attribute__((noinline)) static void leaf(int d) {
  T a(d * 10), b(d * 10 + 1);
  if (d == 0) throw T(99);
  for (int i = 0; i < 3; i++) {
    T l(1000 + i);
    if (i == 1) leaf(d - 1);
  }
}
static int use(const T &a, const T &b) {
  if (a.v + b.v == 3) throw 5;
  return a.v;
}
int main() {
  try {
    T m(7);
    leaf(2);
  } catch (const T &t) { std::printf("caught %d ", t.get()); }
  std::puts("");
  try {
    T x[3] = {1, 2, 3};
    use(T(1), T(2));
  } catch (int e) { std::printf("e%d", e); }
  std::puts("");
  return 0;
}
