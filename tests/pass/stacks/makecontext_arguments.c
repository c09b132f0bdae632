// makecontext passes six ints in registers and two more on the stack; uc_link continues at the right context.
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include <ucontext.h>
static ucontext_t home, first, second;
static int got[8], order[4], steps;
static void eight(int a, int b, int c, int d, int e, int f, int g, int h) {
  int all[8] = {a, b, c, d, e, f, g, h};
  memcpy(got, all, sizeof all);
  order[steps++] = 1;
}
static void none(void) { order[steps++] = 2; }
static void prepare(ucontext_t *c, ucontext_t *link) {
  getcontext(c);
  c->uc_stack.ss_size = 64 << 10;
  c->uc_stack.ss_sp = malloc(c->uc_stack.ss_size);
  c->uc_link = link;
}
int main(void) {
  prepare(&second, &home);
  makecontext(&second, none, 0);
  prepare(&first, &second);
  makecontext(&first, (void (*)(void))eight, 8, 1, -2, 3, -4, 5, -6, 7, -8);
  swapcontext(&home, &first);
  order[steps++] = 3;
  for (int i = 0; i < 8; i++) CHECK(got[i] == (i % 2 ? -(i + 1) : i + 1));
  CHECK(steps == 3 && order[0] == 1 && order[1] == 2 && order[2] == 3);
  return DONE();
}
