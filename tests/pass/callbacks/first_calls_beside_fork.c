// A handler calls functions for the first time while its thread forks, in the parent and in children.
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include "many_functions.h"
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define F(N) __attribute__((noinline)) static int f##N(int n) { return n + N; }
TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6)
enum { COUNT = 60, CHILDREN = 30 };
static int (*const table[])(int) = {A(f, 1), A(f, 2), A(f, 3), A(f, 4), A(f, 5), A(f, 6)};

static volatile int ticks, sum;
static void tick(int signal) {
  (void)signal;
  if (ticks < COUNT)
    sum += table[ticks](0);
  ticks++;
}

static int finish(void) {
  struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
  // A child has no timer.
  setitimer(ITIMER_REAL, &often, NULL);
  while (ticks < COUNT) {
    void *volatile block = malloc(100 + ticks);
    free(block);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  int wanted = 0;
  for (int i = 0; i < COUNT; i++)
    wanted += 10 + i;
  return sum == wanted;
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = tick;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 700}, {0, 700}};
  setitimer(ITIMER_REAL, &often, NULL);
  pid_t children[CHILDREN];
  for (int i = 0; i < CHILDREN; i++) {
    children[i] = fork();
    if (children[i] == 0)
      _exit(finish() ? 0 : 1);
  }
  for (int i = 0; i < CHILDREN; i++) {
    int status = -1;
    while (waitpid(children[i], &status, 0) < 0)
      ;
    CHECK(status == 0);
  }
  CHECK(finish());
  return DONE();
}
