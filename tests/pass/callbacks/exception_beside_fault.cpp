// An exception that a handler throws after a fault between two calls of the same `try` block.
// levels: O0
// stdout: ok
#include "../../check.h"
#include <csignal>

struct Fault {
  int number;
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
static int steps;
__attribute__((noinline)) static void step(int n) {
  if (n < 0) throw n;
  steps++;
}

int main() {
  signal(SIGSEGV, handler);
  signal(SIGFPE, handler);
  int segments = 0, divisions = 0;
  for (int round = 0; round < 20; round++) {
    try {
      step(1);
      int x = *nowhere;
      step(x);
    } catch (const Fault &fault) {
      segments += fault.number == SIGSEGV;
    }
    try {
      step(1);
      int x = round / zero;
      step(x);
    } catch (const Fault &fault) {
      divisions += fault.number == SIGFPE;
    }
  }
  CHECK(segments == 20 && divisions == 20 && steps == 40);
  return DONE();
}
