// no-sanitize: the sanitizer wants type information
// flags: -fno-rtti -g
// Exceptions and virtual calls compiled with -fno-rtti, and -g at every level.
#include <cstdio>
struct E {
  int c;
  virtual int get() const { return c; }
  virtual ~E() {}
};
struct F : E {
  int get() const override { return c * 10; }
};
__attribute__((noinline)) static void f(int k) {
  if (k & 1) {
    F e;
    e.c = k;
    throw e;
  }
  E e;
  e.c = k;
  throw e;
}
int main() {
  int s = 0;
  for (int i = 0; i < 6; i++) try {
      f(i);
    } catch (const F &x) { s = s * 3 + x.get(); } catch (const E &x) {
      s = s * 3 + x.get() + 100;
    }
  std::printf("%d\n", s);
  return 0;
}
