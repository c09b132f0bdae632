// Two contexts in turn: deep recursion and exceptions inside each, caught at the fiber's start and further in.
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include <ucontext.h>
#include <stdexcept>
#include <string>
static ucontext_t back, fiber[2];
static int steps[2];
__attribute__((noinline)) static int deep(int n, int stop, int me) {
  volatile int room[8];
  room[n & 7] = n;
  if (n == stop) {
    swapcontext(&fiber[me], &back);
    throw std::runtime_error("at " + std::to_string(n));
  }
  int below = deep(n + 1, stop, me);
  return below + room[n & 7];
}
__attribute__((noinline)) static int guarded(int stop, int me) {
  try {
    return deep(0, stop, me);
  } catch (const std::runtime_error &e) {
    return std::string(e.what()) == "at " + std::to_string(stop) ? stop : -1;
  }
}
static void body(int me) {
  for (int round = 0; round < 4; round++) {
    steps[me] += guarded(100 * (round + 1) + me, me);
    swapcontext(&fiber[me], &back);
  }
}
int main() {
  for (int i = 0; i < 2; i++) {
    getcontext(&fiber[i]);
    fiber[i].uc_stack.ss_size = 1 << 20;
    fiber[i].uc_stack.ss_sp = malloc(fiber[i].uc_stack.ss_size);
    fiber[i].uc_link = &back;
    makecontext(&fiber[i], (void (*)())body, 1, i);
  }
  int caught = 0;
  for (int round = 0; round < 9; round++)
    for (int i = 0; i < 2; i++) {
      swapcontext(&back, &fiber[i]);
      try {
        throw round;
      } catch (int n) {
        caught += n == round;
      }
    }
  CHECK(caught == 18);
  CHECK(steps[0] == 1000);
  CHECK(steps[1] == 1004);
  return DONE();
}
