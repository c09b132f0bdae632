// A handler calls functions for the first time while the program does: at every moment of their
// preparation.
// stdout: 85095 85095
// levels: O0 O2
#include "many_functions.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#define F(N)                                                                                       \
  __attribute__((noinline)) static int own##N(int n) { return n > N ? n - N : n + N; }             \
  __attribute__((noinline)) static int handlers##N(int n) { return n < N ? n + N : n - N; }
NINETY

enum { COUNT = 90 };
static int (*const own[])(int) = {ALL(own)};
static int (*const handlers[])(int) = {ALL(handlers)};

static volatile int ticks;
static volatile int sum;

static void tick(int signal) {
  (void)signal;
  if (ticks < COUNT)
    sum += handlers[ticks](1000);
  ticks++;
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = tick;
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 30}, {0, 30}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  int total = 0;
  for (int i = 0; i < COUNT; i++) {
    total += own[i](1000);
    for (volatile int wait = 0; wait < 300; wait++)
      ;
  }
  while (ticks < COUNT)
    ;
  setitimer(ITIMER_REAL, &never, NULL);
  printf("%d %d\n", total, sum);
}
