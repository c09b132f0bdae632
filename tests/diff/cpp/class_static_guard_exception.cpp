// exit: 3
// A static local whose initializer throws is initialized again on the next call.
#include <cstdio>
struct S {
  int v;
  S(int x) : v(x) {
    std::printf("try%d ", x);
    if (x < 3) throw x;
  }
  ~S() { std::printf("~%d ", v); }
};
static S &get(int x) {
  static S s(x);
  return s;
}
int main() {
  int r = 0;
  for (int i = 1; i < 6; i++) try {
      r = get(i).v;
      std::printf("got%d ", r);
    } catch (int e) { std::printf("caught%d ", e); }
  std::puts("");
  return r;
}
