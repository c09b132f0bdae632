// A bytecode interpreter with a handler in each call, which measures its own stack as many do: a function that calls
// setjmp must not need a multiple of the native frame.
// stdout: ok
// levels: O2
#include "../../check.h"
#include "operations.h"
#include <setjmp.h>
#include <string.h>

enum { ROOM = 256 << 10, LEVELS = 60 };

static char *top;
__attribute__((noinline)) static long run(const unsigned char *code, jmp_buf *outer, long level) {
  volatile char here = 0;
  // Too little room: the caller's handler ends the recursion.
  if (top - (char *)&here > ROOM) longjmp(*outer, 1);
  jmp_buf handler;
  volatile long below = level;
  if (setjmp(handler)) return below;
  for (long i = 0;; i++) switch (code[i]) {
      OP16(0) OP16(16) OP16(32)
    case 100:
      below = run(code, &handler, level + 1);
      break;
    case 101:
      return below;
    }
}

int main(void) {
  static const unsigned char code[] = {1, 7, 40, 100, 3, 22, 101};
  char here;
  jmp_buf handler;
  top = &here;
  memset(handler, 0, sizeof handler);
  if (setjmp(handler) == 0) CHECK(run(code, &handler, 0) >= LEVELS);
  else CHECK(0);
  return DONE();
}
