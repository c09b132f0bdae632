// Virtual inheritance: the diamond, construction order, vbase offsets, virtual thunks.
#include <cstdio>
struct V {
  int v;
  V(int x) : v(x) { std::printf("V%d ", x); }
  virtual int f() { return v; }
  virtual ~V() { std::printf("~V "); }
};
struct L : virtual V {
  int l = 5;
  L() : V(1) { std::printf("L%d ", f()); }
  int f() override { return v * 10 + l; }
  ~L() { std::printf("~L "); }
};
struct R : virtual V {
  int r = 6;
  R() : V(2) { std::printf("R%d ", f()); }
  virtual int g() { return r + v; }
  ~R() { std::printf("~R "); }
};
struct D : L, R {
  int d = 7;
  D() : V(3) { std::printf("D%d ", f()); }
  int f() override { return L::f() + d; }
  int g() override { return R::g() * 2; }
  ~D() { std::printf("~D "); }
};
int main() {
  {
    D d;
    V *v = &d;
    R *r = &d;
    L *l = &d;
    std::printf("| %d %d %d %d %d ", v->f(), r->g(), l->v, &l->v == &r->v, dynamic_cast<D *>(v) == &d);
  }
  V *v = new L;
  std::printf("| %d ", v->f());
  delete v;
  std::puts("");
  return 0;
}
