// An expression tree with visitors, double dispatch, covariant clones and a small parser.
#include <cctype>
#include <cstdio>
#include <memory>
#include <string>
struct Num;
struct Bin;
struct Vis {
  virtual void num(const Num &) = 0;
  virtual void bin(const Bin &) = 0;
  virtual ~Vis() = default;
};
struct Ex {
  virtual ~Ex() = default;
  virtual void go(Vis &) const = 0;
  virtual Ex *clone() const = 0;
};
using P = std::unique_ptr<Ex>;
struct Num : Ex {
  long v;
  Num(long v) : v(v) {}
  void go(Vis &x) const override { x.num(*this); }
  Num *clone() const override { return new Num(v); }
};
struct Bin : Ex {
  char op;
  P l, r;
  Bin(char o, P l, P r) : op(o), l(std::move(l)), r(std::move(r)) {}
  void go(Vis &x) const override { x.bin(*this); }
  Bin *clone() const override { return new Bin(op, P(l->clone()), P(r->clone())); }
};
struct Eval : Vis {
  long v = 0;
  long of(const Ex &e) {
    e.go(*this);
    return v;
  }
  void num(const Num &n) override { v = n.v; }
  void bin(const Bin &b) override {
    long x = of(*b.l), y = of(*b.r);
    switch (b.op) {
    case '+': v = x + y; break;
    case '-': v = x - y; break;
    case '*': v = x * y; break;
    default:
      if (y == 0) throw std::string("zero");
      v = x / y;
    }
  }
};
struct Show : Vis {
  std::string s;
  void num(const Num &n) override { s += std::to_string(n.v); }
  void bin(const Bin &b) override {
    s += '(';
    b.l->go(*this);
    s += b.op;
    b.r->go(*this);
    s += ')';
  }
};
static P sum(const char *&p);
static P atom(const char *&p) {
  if (*p == '(') {
    p++;
    P e = sum(p);
    p++;
    return e;
  }
  long v = 0;
  while (std::isdigit((unsigned char)*p)) v = v * 10 + *p++ - '0';
  return P(new Num(v));
}
static P prod(const char *&p) {
  P l = atom(p);
  while (*p == '*' || *p == '/') {
    char o = *p++;
    l = P(new Bin(o, std::move(l), atom(p)));
  }
  return l;
}
static P sum(const char *&p) {
  P l = prod(p);
  while (*p == '+' || *p == '-') {
    char o = *p++;
    l = P(new Bin(o, std::move(l), prod(p)));
  }
  return l;
}
int main() {
  for (const char *t : {"1+2*3", "(4+5)*(6-2)/3", "10-3-2", "7/(3-3)"}) {
    P e = sum(t);
    P c(e->clone());
    Show s;
    c->go(s);
    try {
      std::printf("%s=%ld\n", s.s.c_str(), Eval().of(*c));
    } catch (const std::string &m) { std::printf("%s: %s\n", s.s.c_str(), m.c_str()); }
  }
  return 0;
}
