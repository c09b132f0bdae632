// exit: 4
// sigaction, sigprocmask, sigpending, blocked signals delivered on unblock, SA_NODEFER nesting.
#include <stdio.h>
#include <signal.h>
#include <unistd.h>
static volatile int depth, maxd, got;
static void h(int s) {
  (void)s;
  got++;
  if (++depth > maxd) maxd = depth;
  if (depth < 3) raise(SIGUSR2);
  depth--;
}
int main(void) {
  struct sigaction sa = {0}, old;
  sa.sa_handler = h;
  sa.sa_flags = SA_NODEFER;
  sigemptyset(&sa.sa_mask);
  sigaction(SIGUSR2, &sa, &old);
  raise(SIGUSR2);
  printf("%d %d %d\n", got, maxd, old.sa_handler == SIG_DFL);
  sigset_t m, p;
  sigemptyset(&m);
  sigaddset(&m, SIGUSR2);
  sigprocmask(SIG_BLOCK, &m, 0);
  depth = 2;
  kill(getpid(), SIGUSR2);
  sigpending(&p);
  printf("%d %d\n", got, sigismember(&p, SIGUSR2));
  sigprocmask(SIG_UNBLOCK, &m, 0);
  printf("%d\n", got);
  return got;
}
