// exit: 42
// Single inheritance, virtual calls, pure virtuals, virtual destructors, calls during construction.
#include <cstdio>
struct B {
  B() { std::printf("B:%s ", name()); }
  virtual const char *name() const { return "B"; }
  virtual int area() const = 0;
  virtual ~B() { std::printf("~B:%s ", name()); }
  int twice() const { return area() * 2; }
};
struct S : B {
  int s;
  S(int s) : s(s) { std::printf("S:%s ", name()); }
  const char *name() const override { return "S"; }
  int area() const override { return s * s; }
  ~S() override { std::printf("~S:%s ", name()); }
};
struct D final : S {
  D() : S(4) {}
  const char *name() const override { return "D"; }
  int area() const final { return S::area() + 1; }
};
int main() {
  B *v[] = {new S(3), new D};
  int t = 0;
  for (B *b : v) t = t * 100 + b->twice();
  for (B *b : v) delete b;
  std::printf("\n%d\n", t);
  return t & 127;
}
