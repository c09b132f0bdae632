// exit: 91
// flags: -g3
// levels: O0 O1 O2 O3
// The same code with -g: debug records and metadata change nothing.
#include <stdio.h>
struct s {
  int a;
  float b;
};
static inline __attribute__((always_inline)) int in(int x, struct s *p) {
  int y = x * 2;
  p->a += y;
  {
    int z = p->a;
    return z - y;
  }
}
int main(void) {
  struct s s = {1, 2.5f};
  int t = 0;
  for (int i = 0; i < 10; i++) {
    int k = i;
    t += in(k, &s);
  }
  printf("%d %d %g\n", t, s.a, (double)s.b);
  return s.a;
}
