// A timer fires while regions are started with more and more threads; its handler calls functions for the first time on
// any of them, also on threads that begin.
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include "many_functions.h"
#include <signal.h>
#include <sys/time.h>

#define F(N)                                                                                       \
  __attribute__((noinline)) static int own##N(int n) { return n ^ N; }                             \
  __attribute__((noinline)) static int handlers##N(int n) { return n + N; }
TEN(1) TEN(2) TEN(3) TEN(4)
enum { COUNT = 40, TEAMS = 12 };
static int (*const own[])(int) = {A(own, 1), A(own, 2), A(own, 3), A(own, 4)};
static int (*const handlers[])(int) = {A(handlers, 1), A(handlers, 2), A(handlers, 3), A(handlers, 4)};

static int ticks, ended, sum;
static void tick(int signal) {
  (void)signal;
  int now = __atomic_fetch_add(&ticks, 1, __ATOMIC_RELAXED);
  if (now >= COUNT)
    return;
  __atomic_fetch_add(&sum, handlers[now](5), __ATOMIC_RELAXED);
  __atomic_fetch_add(&ended, 1, __ATOMIC_RELEASE);
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = tick;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 40}, {0, 40}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  int total = 0, expected = 0, wanted = 0;
  for (int team = 1; team <= TEAMS; team++) {
    int members = 0;
#pragma omp parallel num_threads(team) reduction(+ : total, members)
    {
      char *block = malloc(1000 + team);
      total += own[(team * 3 + omp_get_thread_num()) % COUNT](0);
      members++;
      free(block);
    }
    CHECK(members >= 1 && members <= team);
    for (int i = 0; i < members; i++) {
      int n = (team * 3 + i) % COUNT;
      expected += 10 + n;
    }
  }
  SPIN_UNTIL(__atomic_load_n(&ended, __ATOMIC_ACQUIRE) == COUNT);
  setitimer(ITIMER_REAL, &never, NULL);
  for (int i = 0; i < COUNT; i++)
    wanted += 5 + 10 + i;
  CHECK(total == expected);
  CHECK(sum == wanted);
  return DONE();
}
