// exit: 5
// Exceptions in constructors: bases and members already built are destroyed, new frees, arrays half built.
#include <cstdio>
#include <cstdlib>
#include <new>
static int frees, news;
struct M {
  int v;
  M(int v) : v(v) {
    std::printf("+%d ", v);
    if (v == 13) throw v;
  }
  ~M() { std::printf("-%d ", v); }
};
struct B {
  M b;
  B(int x) : b(x) {}
};
struct D : B {
  M m, n;
  D(int a, int b, int c) : B(a), m(b), n(c) {
    if (c == 4) throw "body";
  }
  static void *operator new(std::size_t s) {
    news++;
    return std::malloc(s);
  }
  static void operator delete(void *p) {
    frees++;
    std::free(p);
  }
};
static int seq;
struct E {
  int v;
  E() : v(++seq) {
    if (v == 4) throw 1.5;
  }
  ~E() { std::printf("~E%d ", v); }
};
int main() {
  int t[][3] = {{1, 2, 3}, {13, 2, 3}, {1, 13, 3}, {1, 2, 13}, {1, 2, 4}};
  for (auto &a : t) {
    try {
      D *d = new D(a[0], a[1], a[2]);
      delete d;
    } catch (int e) { std::printf("int%d", e); } catch (const char *s) {
      std::printf("%s", s);
    }
    std::puts("");
  }
  try {
    E *e = new E[6];
    delete[] e;
  } catch (double d) { std::printf("%g %d %d\n", d, news, frees); }
  return news;
}
