// A timer signal interrupts sigsuspend; the handler sees globals.
#include <stdio.h>
#include <signal.h>
#include <sys/time.h>
static volatile int ticks;
static void h(int s) {
  (void)s;
  ticks++;
}
int main(void) {
  sigset_t m, o;
  sigemptyset(&m);
  sigaddset(&m, SIGALRM);
  sigprocmask(SIG_BLOCK, &m, &o);
  signal(SIGALRM, h);
  struct itimerval t = {{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &t, 0);
  while (ticks < 3) sigsuspend(&o);
  t = (struct itimerval){0};
  setitimer(ITIMER_REAL, &t, 0);
  printf("%d\n", ticks >= 3);
  return 0;
}
