// clang::musttail: a state machine of tail calls a hundred thousand deep.
#include <stdio.h>
#ifndef TIMES
#define TIMES 20000
#endif
typedef unsigned (*op)(const unsigned char *, unsigned, unsigned);
static unsigned inc(const unsigned char *, unsigned, unsigned), dbl(const unsigned char *, unsigned, unsigned),
    xr(const unsigned char *, unsigned, unsigned), loop(const unsigned char *, unsigned, unsigned);
static const op table[] = {inc, dbl, xr, loop};
#define TAIL(p, a, n) __attribute__((musttail)) return table[*(p)](p, a, n)
static unsigned inc(const unsigned char *p, unsigned a, unsigned n) {
  p++;
  TAIL(p, a + 1, n);
}
static unsigned dbl(const unsigned char *p, unsigned a, unsigned n) {
  p++;
  TAIL(p, a * 2, n);
}
static unsigned xr(const unsigned char *p, unsigned a, unsigned n) {
  p++;
  TAIL(p, a ^ a >> 7 ^ n, n);
}
static unsigned loop(const unsigned char *p, unsigned a, unsigned n) {
  if (n == 0) return a;
  p -= 5;
  TAIL(p, a, n - 1);
}
int main(void) {
  static const unsigned char code[] = {0, 1, 2, 0, 2, 3};
  printf("%u\n", table[0](code, 1, TIMES));
  return 0;
}
