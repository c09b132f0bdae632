// exit: 1
// Unions with non-trivial members, anonymous structs, nested classes, mutable, friend, bit-fields in classes, sizeof with bases.
#include <cstdio>
#include <new>
#include <string>
class V {
  enum K { INT, STR } k;
  union {
    int i;
    std::string s;
  };
  friend int peek(const V &);
  mutable int reads = 0;

public:
  V(int i) : k(INT), i(i) {}
  V(const char *c) : k(STR) { new (&s) std::string(c); }
  V(const V &o) : k(o.k) {
    if (k == STR)
      new (&s) std::string(o.s);
    else
      i = o.i;
  }
  ~V() {
    if (k == STR) s.~basic_string();
  }
  int len() const {
    reads++;
    return k == STR ? (int)s.size() : i;
  }
  class In {
    const V &v;

  public:
    In(const V &v) : v(v) {}
    int twice() const { return v.len() * 2; }
  };
};
int peek(const V &v) { return v.reads; }
struct Bf {
  unsigned a : 4, b : 9;
  bool c : 1;
  enum E : signed char { N = -1, Z } e : 2;
  void inc() {
    a++;
    b += a;
    c = !c;
    e = Z;
  }
};
int main() {
  V a(5), b("a rather long string value for the heap"), c(b), d(a);
  Bf f{15, 500, true, Bf::N};
  int before = f.e;
  f.inc();
  f.inc();
  std::printf("%d %d %d %d %d %d %d %d %d %d\n", a.len(), b.len(), c.len(), d.len(), V::In(c).twice(), peek(c), before,
              (int)f.a, (int)f.b, (int)f.c);
  return peek(b);
}
