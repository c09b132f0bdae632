// A handler of a signal that usually ends the process calls functions for the first time, while the program does, too.
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include "many_functions.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define F(N)                                                                                       \
  __attribute__((noinline)) static int own##N(int n) { return n - N; }                             \
  __attribute__((noinline)) static int handlers##N(int n) { return n + N; }
NINETY
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
