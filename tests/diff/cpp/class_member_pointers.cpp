// exit: 3
// Pointers to members: data, functions, virtual functions, through bases with adjustment, null.
#include <cstdio>
struct A {
  int x = 1;
  virtual int f(int k) { return k + x; }
  int g(int k) { return k * x; }
  virtual ~A() {}
};
struct B {
  int y = 2;
  int h(int k) { return k - y; }
  virtual int w(int) { return 7; }
};
struct C : A, B {
  int f(int k) override { return k * 100; }
  int w(int k) override { return k + y; }
};
int main() {
  int (A::*p)(int) = &A::f;
  int (C::*q)(int) = &B::h;
  int (C::*v)(int) = &C::w;
  int C::*d = &B::y;
  int A::*n = nullptr;
  A a;
  C c;
  A *pc = &c;
  std::printf("%d %d %d %d %d %d %d ", (a.*p)(5), (pc->*p)(5), (c.*q)(9), (c.*v)(1), c.*d, n == nullptr, p == &A::f);
  p = &A::g;
  c.*d = 50;
  int (B::*bw)(int) = &B::w;
  B &b = c;
  std::printf("%d %d %d\n", (pc->*p)(8), (c.*q)(9), (b.*bw)(2));
  return (a.*p)(3);
}
