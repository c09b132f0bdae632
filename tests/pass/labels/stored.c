// Label addresses that leave their function, in a variable, as an argument and as a result, mean the same label whichever
// tier runs the function.
// flags: -Wno-return-stack-address
// levels: O0 O2
// stdout: ok
#include "../../check.h"

static void *resume;
static void *handlers[3];

__attribute__((noinline)) static int same(void *a, void *b) { return a == b; }

// Each call continues behind the step of the one before.
__attribute__((noinline)) static int step(int restart) {
  if (restart)
    resume = &&first;
  goto *resume;
first:
  resume = &&second;
  return 1;
second:
  resume = &&third;
  return 2;
third:
  resume = &&first;
  return 3;
}

// Fills a table of the program at the first call, as interpreters do to translate their code.
__attribute__((noinline)) static long threaded(void **code, long trips) {
  if (code == NULL) {
    handlers[0] = &&more;
    handlers[1] = &&less;
    handlers[2] = &&again;
    return 0;
  }
  long sum = 0;
  void **at = code;
  goto **at++;
more:
  sum += 5;
  goto **at++;
less:
  sum -= 2;
  goto **at++;
again:
  if (--trips == 0)
    return sum;
  at = code;
  goto **at++;
}

__attribute__((noinline)) static void *label(int which) {
  void *const list[] = {&&a, &&b};
  void *volatile at = list[which];
  goto *at;
a:
  return list[1];
b:
  return list[0];
}

int main(void) {
  long sum = 0;
  for (int n = 0; n < 600000; n++)
    sum += step(n == 0) * (n % 3 + 1);
  CHECK(sum == 600000 / 3 * 14L);
  threaded(NULL, 0);
  void *code[] = {handlers[0], handlers[1], handlers[0], handlers[2]};
  CHECK(threaded(code, 1) == 8);
  CHECK(threaded(code, 3000000) == 24000000);
  void *early = label(0);
  int kept = 1;
  for (int n = 0; n < 300000; n++)
    kept &= same(label(0), early) & !same(label(1), early);
  CHECK(kept);
  DONE();
}
