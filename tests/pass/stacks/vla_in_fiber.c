// alloca and arrays of variable length inside fibers: they lie on the fiber's stack, keep their contents over switches, and are released.
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include <alloca.h>
#include <stdint.h>
#include <ucontext.h>
enum { SIZE = 512 << 10 };
static ucontext_t home, fiber[2];
static char *stack[2];
static int good[2];
__attribute__((noinline)) static int inside(volatile void *p, int me) { return (char *)p >= stack[me] && (char *)p < stack[me] + SIZE; }
__attribute__((noinline)) static int level(int n, int me) {
  int vla[n + 1];
  for (int i = 0; i <= n; i++) vla[i] = i * me + n;
  char *big = alloca(n * 100 + 1);
  memset(big, me, n * 100 + 1);
  int ok = inside(vla, me) && inside(big, me) && ((uintptr_t)big & 15) == 0;
  if (n > 40) ok &= level(n - 20, me);
  swapcontext(&fiber[me], &home);
  for (int i = 0; i <= n; i++) ok &= vla[i] == i * me + n;
  for (int i = 0; i <= n * 100; i++) ok &= big[i] == me;
  return ok;
}
static void body(int me) {
  for (int round = 0; round < 200; round++) {
    volatile char scratch[1 << (round % 14)];
    scratch[0] = round;
    good[me] += inside(scratch, me);
  }
  good[me] += level(300, me);
}
int main(void) {
  for (int i = 0; i < 2; i++) {
    getcontext(&fiber[i]);
    stack[i] = malloc(SIZE);
    fiber[i].uc_stack.ss_sp = stack[i];
    fiber[i].uc_stack.ss_size = SIZE;
    fiber[i].uc_link = &home;
    makecontext(&fiber[i], (void (*)(void))body, 1, i);
  }
  for (int round = 0; round < 15; round++)
    for (int i = 0; i < 2; i++) swapcontext(&home, &fiber[i]);
  CHECK(good[0] == 201 && good[1] == 201);
  return DONE();
}
