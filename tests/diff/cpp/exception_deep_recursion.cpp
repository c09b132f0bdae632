// Throwing through three thousand frames with destructors in each.
#include <cstdio>
static unsigned h;
static int alive;
struct G {
  int d;
  G(int d) : d(d) { alive++; }
  ~G() {
    alive--;
    h = h * 31 + (unsigned)d;
  }
};
__attribute__((noinline)) static int go(int d) {
  G g(d);
  if (d == 0) throw 1;
  return go(d - 1) + g.d;
}
int main() {
  for (int i = 0; i < 3; i++) try {
      go(3000);
    } catch (int e) { std::printf("%d %u %d\n", e, h, alive); }
  return 0;
}
