// flags: -D_GNU_SOURCE
// A handler on an alternate stack catches a stack overflow and leaves by siglongjmp.
#include <stdio.h>
#include <signal.h>
#include <setjmp.h>
static sigjmp_buf jb;
static char alt[1 << 16];
static volatile int on;
static void h(int s) {
  char here;
  on = &here >= alt && &here < alt + sizeof alt;
  siglongjmp(jb, s);
}
int main(void) {
  stack_t st = {.ss_sp = alt, .ss_size = sizeof alt};
  sigaltstack(&st, 0);
  struct sigaction sa = {0};
  sa.sa_handler = h;
  sa.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &sa, 0);
  int s = sigsetjmp(jb, 1);
  if (!s) raise(SIGUSR1);
  printf("%d %d\n", s == SIGUSR1, on);
  return 0;
}
