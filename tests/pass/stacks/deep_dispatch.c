// Recursion through a function like a bytecode interpreter's: many cases, each with values of its own, of which few are
// alive in a call. Its frames must stay within a few times the native ones, on the first thread and on another one.
// stdout: ok
// levels: O2
#include "../../check.h"
#include "operations.h"
#include <pthread.h>

enum { DEPTH = 30000 };

static long reached;

__attribute__((noinline)) static long run(const unsigned char *code, long depth) {
  for (long i = 0;; i++) switch (code[i]) {
      OP16(0) OP16(16) OP16(32)
    case 100:
      reached = depth;
      if (depth < DEPTH) work[i & 63] += run(code, depth + 1);
      break;
    case 101:
      return work[i & 63];
    }
}

static void *start(void *unused) {
  static const unsigned char code[] = {1, 7, 40, 100, 3, 22, 101};
  run(code, 0);
  CHECK(reached == DEPTH);
  reached = 0;
  return unused;
}

int main(void) {
  start(NULL);
  pthread_t other;
  CHECK(pthread_create(&other, NULL, start, NULL) == 0);
  CHECK(pthread_join(other, NULL) == 0);
  return DONE();
}
