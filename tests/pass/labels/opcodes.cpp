// An opcode reached by a computed jump throws, and the loop of opcodes or its caller catches.
// levels: O0 O2
// stdout: ok
#include "../../check.h"

enum { PUSH, ADD, CHECKED, TRAP, END };

struct Overflow {
  long value;
};

struct Depth {
  int &depth;
  explicit Depth(int &of) : depth(of) { depth++; }
  ~Depth() { depth--; }
};

static int depth;

__attribute__((noinline)) static void guard(long value) {
  if (value > 100)
    throw Overflow{value};
}

__attribute__((noinline)) static long run(const int *code) {
  static void *const table[] = {&&push, &&add, &&checked, &&trap, &&end};
  Depth inside(depth);
  long stack[8], *top = stack;
  const int *at = code;
  goto *table[*at++];
push:
  *top++ = *at++;
  goto *table[*at++];
add:
  top--;
  top[-1] += top[0];
  goto *table[*at++];
checked:
  try {
    guard(top[-1]);
  } catch (const Overflow &o) {
    top[-1] = o.value % 100;
  }
  goto *table[*at++];
trap:
  guard(top[-1] + 1000);
  goto *table[*at++];
end:
  return top[-1];
}

int main() {
  const int plain[] = {PUSH, 40, PUSH, 2, ADD, CHECKED, END};
  const int caught[] = {PUSH, 140, PUSH, 2, ADD, CHECKED, END};
  const int thrown[] = {PUSH, 40, TRAP, END};
  long sum = 0, escaped = 0;
  for (int n = 0; n < 200000; n++) {
    sum += run(plain);
    if (n % 16 == 0) {
      CHECK(run(caught) == 42);
      try {
        sum += run(thrown);
      } catch (const Overflow &o) {
        escaped += o.value;
      }
    }
  }
  CHECK(sum == 42 * 200000L);
  CHECK(escaped == 1040 * 12500L);
  CHECK(depth == 0);
  DONE();
}
