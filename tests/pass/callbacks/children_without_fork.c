// Linux `clone(2)`, POSIX.1-2024 `_Fork`: children that are made without the handlers of `fork` run code of
// their own, and their parent runs on.
// options: --tier=baseline
// levels: O1
// stdout: ok
#define _GNU_SOURCE
#include "../../check.h"
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
enum { N = 300000 };
pid_t _Fork(void);
static char stack[1 << 20] __attribute__((aligned(64)));

// Each function becomes hot in one process only, or in both after the fork.
#define HOT(name, type, step)                                                                                          \
  __attribute__((noinline)) static long name(long k) {                                                                \
    type h = 1;                                                                                                        \
    for (long i = 0; i < N; i++)                                                                                       \
      h = step;                                                                                                        \
    return (long)h;                                                                                                    \
  }
HOT(first, unsigned long, h * 31 + (i ^ k))
HOT(second, double, h * .999 + (i & k))
HOT(third, unsigned, h * 7 ^ (i + k))
HOT(fourth, float, h * .5f + (i & k))

static int expected[4];
static int child(void *arg) {
  (void)arg;
  return (first(3) & 127) == expected[0] && (third(5) & 127) == expected[2] ? 9 : 1;
}
static long by_hand(int which, long k) {
  unsigned long a = 1;
  unsigned c = 1;
  for (volatile long i = 0; i < N; i++)
    a = a * 31 + (i ^ k), c = c * 7 ^ (i + k);
  return which ? (long)c : (long)a;
}

int main(void) {
  expected[0] = by_hand(0, 3) & 127;
  expected[2] = by_hand(1, 5) & 127;
  for (int way = 0; way < 9; way++) {
    pid_t pid;
    if (way % 3 == 0)
      pid = clone(child, stack + sizeof stack, SIGCHLD, 0);
    else
      pid = way % 3 == 1 ? _Fork() : (pid_t)syscall(SYS_fork);
    if (pid == 0)
      _exit(child(0));
    long mine = second(7), other = fourth(3);
    int status;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9);
    CHECK(mine == 3505 && second(7) == mine && fourth(3) == other);
  }
  puts("ok");
}
