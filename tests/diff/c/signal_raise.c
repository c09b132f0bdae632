// signal: 15
// signal, raise, SIG_IGN, SIG_DFL, handler re-installed, volatile sig_atomic_t.
#include <stdio.h>
#include <signal.h>
static volatile sig_atomic_t n, last;
static void h(int s) {
  n++;
  last = s;
}
int main(void) {
  void (*old)(int) = signal(SIGUSR1, h);
  printf("%d ", old == SIG_DFL);
  raise(SIGUSR1);
  raise(SIGUSR1);
  printf("%d %d ", (int)n, last == SIGUSR1);
  old = signal(SIGUSR1, SIG_IGN);
  printf("%d ", old == h);
  raise(SIGUSR1);
  printf("%d ", (int)n);
  signal(SIGTERM, h);
  raise(SIGTERM);
  printf("%d %d\n", (int)n, last == SIGTERM);
  fflush(stdout);
  signal(SIGTERM, SIG_DFL);
  raise(SIGTERM);
  return 0;
}
