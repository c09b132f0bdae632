// exit: 9
// Function-try-blocks on constructors, destructors and functions.
#include <cstdio>
#include <initializer_list>
struct M {
  M(int k) {
    if (k < 0) throw k;
  }
};
struct C {
  M m;
  C(int k) try : m(k) {
    if (k == 7) throw 70;
    std::printf("built ");
  } catch (int e) {
    std::printf("ctor%d ", e);
    throw e * 2;
  }
};
struct D {
  ~D() try { throw 5; } catch (int e) {
    std::printf("dtor%d ", e);
    return;
  }
};
static int f(int x) try {
  if (x) throw x;
  return 1;
} catch (int e) { return e + 100; }
int main() try {
  for (int k : {1, -3, 7}) try {
      C c(k);
    } catch (int e) { std::printf("main%d ", e); }
  { D d; }
  std::printf("%d %d\n", f(0), f(5));
  throw 9;
} catch (int e) {
  std::puts("main handler");
  return e;
}
