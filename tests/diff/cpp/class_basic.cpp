// Members of classes: constructors, destructors, copy and move, member initializer order, static members, operators.
#include <cstdio>
struct T {
  static int alive;
  int v;
  T(int v) : v(v) {
    alive++;
    std::printf("+%d ", v);
  }
  T(const T &o) : v(o.v * 10) {
    alive++;
    std::printf("c%d ", v);
  }
  T(T &&o) noexcept : v(o.v + 1) {
    o.v = 0;
    alive++;
    std::printf("m%d ", v);
  }
  T &operator=(const T &o) {
    v = o.v + 100;
    return *this;
  }
  T &operator=(T &&o) noexcept {
    v = o.v + 1000;
    o.v = -1;
    return *this;
  }
  ~T() {
    alive--;
    std::printf("-%d ", v);
  }
};
int T::alive = 0;
struct A {
  T a, b;
  A() : a(1), b(a) {}
};
static T make(int x) {
  T t(x);
  return t;
}
static T pass(T t) {
  t.v++;
  return t;
}
int main() {
  {
    A x;
    A y = x;
    y.a = x.b;
    x.b = T(7);
  }
  std::puts("");
  {
    T t = make(3);
    T u = pass(t);
    T w = pass(static_cast<T &&>(u));
    std::printf("[%d %d %d %d] ", t.v, u.v, w.v, T::alive);
  }
  std::printf("%d\n", T::alive);
}
