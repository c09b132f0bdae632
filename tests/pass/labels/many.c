// More labels than a byte can number, and a function that jumps to labels both by a table and from assembly.
// levels: O0 O2
// stdout: ok
#include "../../check.h"

#define TEN(of, n) of(n##0) of(n##1) of(n##2) of(n##3) of(n##4) of(n##5) of(n##6) of(n##7) of(n##8) of(n##9)
#define HUNDRED(of, n) TEN(of, n##0) TEN(of, n##1) TEN(of, n##2) TEN(of, n##3) TEN(of, n##4) \
  TEN(of, n##5) TEN(of, n##6) TEN(of, n##7) TEN(of, n##8) TEN(of, n##9)
#define ALL(of) HUNDRED(of, 1) HUNDRED(of, 2) HUNDRED(of, 3)

__attribute__((noinline)) static unsigned by_label(unsigned op, int steps) {
#define ENTRY(n) &&l##n,
  static void *const table[] = {ALL(ENTRY)};
  unsigned sum = 0;
  goto *table[op];
#define STEP(n) \
  l##n: \
  sum = sum * 3 + n; \
  if (--steps == 0) \
    return sum; \
  op = (op * 7 + 1) % 300; \
  goto *table[op];
  ALL(STEP)
}

__attribute__((noinline)) static unsigned by_number(unsigned op, int steps) {
  unsigned sum = 0;
  for (; steps > 0; steps--, op = (op * 7 + 1) % 300)
    sum = sum * 3 + op + 100;
  return sum;
}

__attribute__((noinline)) static int assembly(int n) {
  static void *const table[] = {&&even, &&zero};
  asm goto("test %0, %0; jz %l1" : : "r"(n) : "cc" : zero);
  goto *table[n & 1];
even:
  return 5;
zero:
  return 7;
}

int main(void) {
  for (unsigned op = 0; op < 300; op++)
    CHECK(by_label(op, 500) == by_number(op, 500));
  CHECK(by_label(17, 2000000) == by_number(17, 2000000));
  int sum = 0;
  for (int n = 0; n < 100000; n++)
    sum += assembly(n & 3);
  CHECK(sum == 25000 * (7 + 7 + 5 + 7));
  DONE();
}
