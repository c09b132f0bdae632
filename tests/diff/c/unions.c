// exit: 16
// Kinds of unions: type punning, tagged unions by value, unions in arrays and as arguments.
#include <stdio.h>
#include <stdint.h>
union n {
  double d;
  uint64_t u;
  struct {
    uint32_t lo, hi;
  } w;
  unsigned char b[8];
  float f;
};
struct v {
  enum { I, D, S } t;
  union {
    long i;
    double d;
    const char *s;
  } u;
};
static void show(struct v v) {
  switch (v.t) {
  case I: printf("i%ld ", v.u.i); break;
  case D: printf("d%g ", v.u.d); break;
  case S: printf("s%s ", v.u.s);
  }
}
__attribute__((noinline)) static union n bump(union n x) {
  x.u++;
  return x;
}
int main(void) {
  volatile double d = 1.0;
  union n n = {d};
  printf("%llx %x %x %d ", (unsigned long long)n.u, n.w.hi, n.w.lo, n.b[6]);
  n = bump(bump(n));
  printf("%a ", n.d);
  n.f = -2.5f;
  printf("%x\n", n.w.lo);
  struct v a[] = {{I, {.i = 42}}, {D, {.d = 2.5}}, {S, {.s = "text"}}};
  for (int i = 0; i < 3; i++) show(a[i]);
  struct v t = a[0];
  a[0] = a[2];
  a[2] = t;
  for (int i = 0; i < 3; i++) show(a[i]);
  puts("");
  return (int)sizeof(struct v);
}
