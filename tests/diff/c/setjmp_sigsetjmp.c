// sigsetjmp with and without saving the mask, siglongjmp out of a handler; __builtin_setjmp family left alone.
#include <stdio.h>
#include <setjmp.h>
#include <signal.h>
static sigjmp_buf jb;
static void h(int s) { siglongjmp(jb, s); }
static int blocked(void) {
  sigset_t m;
  sigprocmask(SIG_SETMASK, 0, &m);
  return sigismember(&m, SIGUSR1);
}
int main(void) {
  signal(SIGUSR1, h);
  int r = sigsetjmp(jb, 1);
  if (!r) raise(SIGUSR1);
  printf("%d %d\n", r == SIGUSR1, blocked());
  r = sigsetjmp(jb, 0);
  if (!r) raise(SIGUSR1);
  printf("%d %d\n", r == SIGUSR1, blocked());
  return 0;
}
