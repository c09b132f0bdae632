// Many fibers on mapped stacks of 16 KiB with a guard page, each with a recursion and a call of the library, in turn.
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include <sys/mman.h>
#include <ucontext.h>
enum { FIBERS = 40, SIZE = 16 << 10, PAGE = 4096 };
static ucontext_t home, fiber[FIBERS];
static int sums[FIBERS];
__attribute__((noinline)) static int down(int n) { return n ? down(n - 1) + 1 : 0; }
static void body(int me) {
  int numbers[4] = {4 + me, 2, 3 + me, 1};
  for (int round = 0; round < 3; round++) {
    sums[me] += down(8) + numbers[round];
    swapcontext(&fiber[me], &home);
  }
  sums[me] += numbers[3];
}
int main(void) {
  for (int i = 0; i < FIBERS; i++) {
    char *stack = mmap(0, SIZE + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(stack != MAP_FAILED);
    CHECK(mprotect(stack, PAGE, PROT_NONE) == 0);
    getcontext(&fiber[i]);
    fiber[i].uc_stack.ss_sp = stack + PAGE;
    fiber[i].uc_stack.ss_size = SIZE;
    fiber[i].uc_link = &home;
    makecontext(&fiber[i], (void (*)(void))body, 1, i);
  }
  for (int round = 0; round < 4; round++)
    for (int i = 0; i < FIBERS; i++) swapcontext(&home, &fiber[i]);
  for (int i = 0; i < FIBERS; i++) CHECK(sums[i] == 34 + 2 * i);
  return DONE();
}
