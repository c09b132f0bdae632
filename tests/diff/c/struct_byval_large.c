// Large structs by value (byval on the stack, sret results), many of them, changed by the callee only.
#include <stdio.h>
struct big {
  int v[20];
  double d;
  char tag[5];
};
__attribute__((noinline)) static struct big change(struct big b, int k, struct big c) {
  b.v[3] = k;
  c.v[4] = -1;
  for (int i = 0; i < 20; i++) b.v[i] += c.v[i];
  b.d += c.d;
  b.tag[0]++;
  return b;
}
static struct big (*volatile fp)(struct big, int, struct big) = change;
__attribute__((noinline)) static int many(long a, long b, long c, long d, long e, long f, struct big x, long g,
                                          struct big y, char h) {
  return (int)(a + b + c + d + e + f + g + h) + x.v[19] * y.v[1];
}
int main(void) {
  struct big a = {{1, 2, 3}, 0.5, "abcd"}, b = {{[19] = 7}, 2, "x"};
  struct big r = fp(a, 10, b);
  struct big q = change(r, 5, r);
  unsigned h = 0;
  for (int i = 0; i < 20; i++) h = h * 31 + (unsigned)(a.v[i] + b.v[i] * 3 + r.v[i] * 5 + q.v[i] * 7);
  printf("%u %g %s %g %s %d %d\n", h, r.d, r.tag, q.d, a.tag, a.v[3], many(1, 2, 3, 4, 5, 6, r, 7, q, 8));
  return 0;
}
