// A handler calls functions for the first time while the program allocates: the C library's allocator may not be entered
// again by the handler's thread.
// stdout: 85095 85095
// levels: O0 O2
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define F(N)                                                                                       \
  __attribute__((noinline)) static int own##N(int n) { return n > N ? n - N : n + N; }             \
  __attribute__((noinline)) static int handlers##N(int n) { return n < N ? n + N : n - N; }
#define TEN(D) F(D##0) F(D##1) F(D##2) F(D##3) F(D##4) F(D##5) F(D##6) F(D##7) F(D##8) F(D##9)
TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9)

#define A(NAME, D)                                                                                 \
  NAME##D##0, NAME##D##1, NAME##D##2, NAME##D##3, NAME##D##4, NAME##D##5, NAME##D##6, NAME##D##7,  \
      NAME##D##8, NAME##D##9
#define ALL(NAME)                                                                                  \
  A(NAME, 1), A(NAME, 2), A(NAME, 3), A(NAME, 4), A(NAME, 5), A(NAME, 6), A(NAME, 7), A(NAME, 8),  \
      A(NAME, 9)
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
