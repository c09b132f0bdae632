// A fiber started deep inside a call chain is resumed from elsewhere after that chain has returned, and ends there.
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include <ucontext.h>
static ucontext_t *back, fiber;
static int seen, sum;
static int compare(const void *a, const void *b) {
  // Called from native code: a fiber resumed here has other frames below it than at its start.
  ucontext_t here;
  back = &here;
  swapcontext(&here, &fiber);
  return *(const int *)a - *(const int *)b;
}
__attribute__((noinline)) static int down(int n) {
  volatile int keep[20];
  keep[n % 20] = n;
  if (n == 0) swapcontext(&fiber, back);
  return n ? down(n - 1) + (keep[n % 20] == n) : 0;
}
static void body(void) {
  for (int i = 0; i < 12; i++) sum += down(i), seen++;
  for (;;) swapcontext(&fiber, back);
}
__attribute__((noinline)) static void start(int n) {
  if (n) return start(n - 1);
  ucontext_t here;
  back = &here;
  swapcontext(&here, &fiber);
}
int main(void) {
  getcontext(&fiber);
  fiber.uc_stack.ss_size = 64 << 10;
  fiber.uc_stack.ss_sp = malloc(fiber.uc_stack.ss_size);
  fiber.uc_link = 0;
  makecontext(&fiber, body, 0);
  start(30);
  int numbers[] = {5, 3, 9, 1, 7, 2, 8, 4};
  for (int round = 0; round < 3; round++) {
    qsort(numbers, 8, sizeof *numbers, compare);
    for (int i = 0; i < 8; i++) numbers[i] = numbers[i] * 7 % 11;
  }
  CHECK(seen == 12);
  CHECK(sum == 66);
  return DONE();
}
