// An exception that a handler throws after a fault unwinds the interrupted function and reaches the caller's handler, on
// every thread.
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include <csignal>

struct Fault {
  int number;
};
struct Counted {
  int &count;
  ~Counted() { count++; }
};

static void handler(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  throw Fault{number};
}

static int *volatile nowhere;
static volatile int zero;

__attribute__((noinline)) static int load() { return *nowhere; }
__attribute__((noinline)) static int divide(int x) { return x / zero; }
__attribute__((noinline)) static int fill(int n) {
  for (int i = 0; i < n; i++) nowhere[i] = i;
  return n;
}
static int (*volatile loads)() = load;
static int (*volatile divides)(int) = divide;
static int (*volatile fills)(int) = fill;

__attribute__((noinline)) static int between(int &count) {
  Counted counted{count};
  return divides(7) + 1;
}

int main() {
  signal(SIGSEGV, handler);
  signal(SIGFPE, handler);
#pragma omp parallel
  for (int round = 0; round < 20; round++) {
    int segments = 0, divisions = 0, cleanups = 0;
    long local[4] = {1, 2, 3, round};
    try {
      local[0] += loads();
    } catch (const Fault &fault) {
      segments += fault.number == SIGSEGV;
    }
    try {
      local[0] += fills(round + 1);
    } catch (const Fault &fault) {
      segments += fault.number == SIGSEGV;
    }
    try {
      local[0] += between(cleanups);
    } catch (const Fault &fault) {
      divisions += fault.number == SIGFPE;
    }
    CHECK(segments == 2);
    CHECK(divisions == 1);
    CHECK(cleanups == 1);
    CHECK(local[0] == 1 && local[3] == round);
  }
  return DONE();
}
