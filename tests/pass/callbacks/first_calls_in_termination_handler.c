// A handler of a signal that usually ends the process calls functions for the first time, while the program does, too.
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define F(N)                                                                                       \
  __attribute__((noinline)) static int own##N(int n) { return n - N; }                             \
  __attribute__((noinline)) static int handlers##N(int n) { return n + N; }
#define TEN(D) F(D##0) F(D##1) F(D##2) F(D##3) F(D##4) F(D##5) F(D##6) F(D##7) F(D##8) F(D##9)
TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9)
#define A(NAME, D)                                                                                 \
  NAME##D##0, NAME##D##1, NAME##D##2, NAME##D##3, NAME##D##4, NAME##D##5, NAME##D##6, NAME##D##7,  \
      NAME##D##8, NAME##D##9
#define ALL(NAME)                                                                                  \
  A(NAME, 1), A(NAME, 2), A(NAME, 3), A(NAME, 4), A(NAME, 5), A(NAME, 6), A(NAME, 7), A(NAME, 8),  \
      A(NAME, 9)
enum { COUNT = 90 };
static int (*const own[])(int) = {ALL(own)};
static int (*const handlers[])(int) = {ALL(handlers)};
static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};

static volatile int ticks, sum;
static void tick(int signal) {
  (void)signal;
  if (ticks < COUNT)
    sum += handlers[ticks](1);
  ticks++;
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = tick;
  action.sa_flags = SA_RESTART;
  // One handler at a time.
  sigfillset(&action.sa_mask);
  for (int i = 0; i < 4; i++)
    sigaction(signals[i], &action, NULL);
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    for (int i = 0; getppid() == parent; i++) {
      kill(parent, signals[i % 4]);
      usleep(20);
    }
    _exit(0);
  }
  int total = 0, expected = 0, wanted = 0;
  for (int i = 0; i < COUNT; i++) {
    total += own[i](0);
    for (int k = 0; k < 20; k++) {
      void *volatile block = malloc(100 + k * i);
      free(block);
    }
    expected -= 10 + i;
    wanted += 11 + i;
  }
  while (ticks < COUNT) {
    void *volatile block = malloc(100);
    free(block);
  }
  kill(child, SIGKILL);
  while (waitpid(child, NULL, 0) < 0)
    ;
  CHECK(total == expected);
  CHECK(sum == wanted);
  return DONE();
}
