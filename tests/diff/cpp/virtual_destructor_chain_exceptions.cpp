// Exceptions thrown through virtual calls, out of virtual base constructors, and destruction of partly built derived objects.
#include <cstdio>
#include <memory>
struct Log {
  const char *n;
  Log(const char *n) : n(n) { std::printf("+%s ", n); }
  ~Log() { std::printf("-%s ", n); }
};
struct V {
  Log l{"V"};
  int x;
  V(int x) : x(x) {
    if (x == 1) throw "V";
  }
  virtual ~V() { std::printf("~V "); }
  virtual int f() { throw x; }
};
struct A : virtual V {
  Log l{"A"};
  A(int x) : V(x) {
    if (x == 2) throw "A";
  }
  ~A() override { std::printf("~A "); }
};
struct B : virtual V {
  Log l{"B"};
  B(int x) : V(x) {
    if (x == 3) throw "B";
  }
};
struct C : A, B {
  Log l{"C"};
  C(int x) : V(x), A(x), B(x) {
    if (x == 4) throw "C";
  }
  int f() override {
    if (x > 5) V::f();
    return x;
  }
  ~C() override { std::printf("~C "); }
};
int main() {
  for (int i = 1; i <= 6; i++) {
    try {
      std::unique_ptr<V> p = std::make_unique<C>(i);
      std::printf("f=%d ", p->f());
    } catch (const char *s) { std::printf("caught %s", s); } catch (int k) {
      std::printf("int %d", k);
    }
    std::puts("");
  }
  return 0;
}
