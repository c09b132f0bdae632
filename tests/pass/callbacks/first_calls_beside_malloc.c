// A handler calls functions for the first time while the program allocates: the C library's allocator may not be entered
// again by the handler's thread.
// stdout: 85095 85095
// levels: O0 O2
#include "many_functions.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define F(N)                                                                                       \
  __attribute__((noinline)) static int own##N(int n) { return n > N ? n - N : n + N; }             \
  __attribute__((noinline)) static int handlers##N(int n) { return n < N ? n + N : n - N; }
NINETY

enum { COUNT = 90 };
typedef int (*Function)(int);
static const Function own[] = {ALL(own)};
// Filled at run time: no initializer names the functions.
static Function *handlers;

static volatile int ticks;
static volatile int sum;

static void tick(int signal) {
  (void)signal;
  if (ticks < COUNT)
    sum += handlers[ticks](1000);
  ticks++;
}

static void allocate(int i) {
  void *volatile block = malloc(100 + i % 5000);
  free(block);
}

int main(void) {
  const Function all[] = {ALL(handlers)};
  handlers = malloc(sizeof all);
  memcpy(handlers, all, sizeof all);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = tick;
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 30}, {0, 30}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  int total = 0;
  for (int i = 0; i < COUNT; i++) {
    total += own[i](1000);
    for (int k = 0; k < 100; k++)
      allocate(k * i);
  }
  for (int i = 0; ticks < COUNT; i++)
    allocate(i);
  setitimer(ITIMER_REAL, &never, NULL);
  printf("%d %d\n", total, sum);
}
