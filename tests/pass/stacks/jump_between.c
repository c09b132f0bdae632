// longjmp switches between two stacks that setjmp marked, and leaves frames of compiled and interpreted code alike.
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include <setjmp.h>
#include <ucontext.h>
static jmp_buf main_place, fiber_place;
static ucontext_t home, fiber;
static volatile int steps, wrong;
__attribute__((noinline)) static void yield(int n) {
  volatile int room[30];
  room[n % 30] = n;
  if (n) {
    yield(n - 1);
    wrong += room[n % 30] != n;
    return;
  }
  if (!setjmp(fiber_place)) longjmp(main_place, 1);
}
static void body(void) {
  for (int i = 0; i < 20; i++) {
    yield(i);
    steps++;
  }
}
int main(void) {
  getcontext(&fiber);
  fiber.uc_stack.ss_size = 64 << 10;
  fiber.uc_stack.ss_sp = malloc(fiber.uc_stack.ss_size);
  fiber.uc_link = &home;
  makecontext(&fiber, body, 0);
  volatile int rounds = 0;
  if (!setjmp(main_place)) swapcontext(&home, &fiber);
  if (steps < 20) {
    rounds++;
    longjmp(fiber_place, 1);
  }
  CHECK(steps == 20 && rounds == 20 && wrong == 0);
  return DONE();
}
