// Multiple inheritance: thunks, pointer adjustment, comparison, deletion through the second base.
#include <cstdio>
struct A {
  long a = 1;
  virtual int f() { return 10; }
  virtual ~A() { std::printf("~A "); }
};
struct B {
  long b = 2;
  virtual int g() { return 20; }
  virtual B *self() { return this; }
  virtual ~B() { std::printf("~B "); }
};
struct C : A, B {
  long c = 3;
  int f() override { return 30 + (int)c; }
  int g() override { return 40 + (int)a; }
  C *self() override { return this; }
  ~C() override { std::printf("~C "); }
};
int main() {
  C *c = new C;
  A *a = c;
  B *b = c;
  std::printf("%d %d %d %d %d ", a->f(), b->g(), (void *)b == (void *)c, b == c, b->self() == c);
  B *n = static_cast<C *>(nullptr);
  C *back = static_cast<C *>(b);
  std::printf("%d %d %ld\n", n == nullptr, back == c, back->c);
  delete b;
  std::puts("");
  return 0;
}
