// Handlers on an alternate stack leave by siglongjmp, from a recursion there, repeatedly; the interrupted stack continues.
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include <setjmp.h>
#include <signal.h>
static sigjmp_buf out;
static char *low, *high;
static volatile int inside, deepest;
__attribute__((noinline)) static int down(int n) {
  volatile char room[64];
  room[n & 63] = n;
  inside += (char *)room >= low && (char *)room < high;
  deepest = n;
  if (n == 20) siglongjmp(out, 7);
  return down(n + 1) + room[n & 63];
}
static void handler(int s) {
  (void)s;
  down(0);
}
__attribute__((noinline)) static int work(int n) {
  volatile int keep[16];
  for (int i = 0; i < 16; i++) keep[i] = n + i;
  int r = n ? work(n - 1) : sigsetjmp(out, 1);
  if (!n && r == 0) raise(SIGUSR1);
  for (int i = 0; i < 16; i++)
    if (keep[i] != n + i) return -1000;
  return r;
}
int main(void) {
  static char area[64 << 10];
  low = area;
  high = area + sizeof area;
  stack_t s = {.ss_sp = area, .ss_size = sizeof area};
  CHECK(sigaltstack(&s, 0) == 0);
  struct sigaction a = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  CHECK(sigaction(SIGUSR1, &a, 0) == 0);
  for (int round = 0; round < 50; round++) CHECK(work(round) == 7);
  CHECK(deepest == 20);
  CHECK(inside == 50 * 21);
  return DONE();
}
