// Arguments in memory with an alignment of their own, between compiled and interpreted functions and over native ones.
// Functions whose names begin with `interp_` stay interpreted.
// options: --tier=opt
// env: OMPVM_INTERPRET=interp_
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include <stdint.h>

typedef float wide __attribute__((vector_size(32), aligned(32)));
typedef struct {
  _Alignas(64) int first;
  int rest[31];
} line;

// Assembly hides the addresses, so their alignment is not computed at compile time.
static long offset(const void *p, long align) {
  uintptr_t at = (uintptr_t)p;
  __asm__("" : "+r"(at));
  return at % align;
}

#define TAKE(name)                                                                                 \
  __attribute__((noinline)) static int name(int a, wide v, char b, line l, int c) {                \
    CHECK(offset(&v, 32) == 0 && offset(&l, 64) == 0);                                             \
    v += v;                                                                                        \
    CHECK(v[0] == 2 && v[7] == 16);                                                                \
    return a + b + c + l.first + l.rest[30];                                                       \
  }
TAKE(compiled_take)
TAKE(interp_take)

#define CALL(name)                                                                                 \
  __attribute__((noinline)) static int name(char b) {                                              \
    wide v = {1, 2, 3, 4, 5, 6, 7, 8};                                                             \
    line l = {.first = 10, .rest[30] = 20};                                                        \
    int (*volatile compiled)(int, wide, char, line, int) = compiled_take;                          \
    int (*volatile interpreted)(int, wide, char, line, int) = interp_take;                         \
    return compiled(1, v, b, l, 5) + interpreted(1, v, b, l, 5);     \
  }
CALL(compiled_call)
CALL(interp_call)

// Calls with another position of the stack pointer for each depth.
#define DEEP(name, call)                                                                           \
  __attribute__((noinline)) static int name(int depth) {                                           \
    volatile char room[16 * depth + 1];                                                            \
    room[16 * depth] = 3;                                                                          \
    return call(room[16 * depth]) + room[16 * depth] - 3;                                          \
  }
DEEP(compiled_deep, compiled_call)
DEEP(interp_deep, compiled_call)
DEEP(compiled_deep_to_interp, interp_call)
DEEP(interp_deep_to_interp, interp_call)

int main(void) {
  for (int depth = 0; depth < 8; depth++) {
    CHECK(compiled_deep(depth) == 78 && interp_deep(depth) == 78);
    CHECK(compiled_deep_to_interp(depth) == 78 && interp_deep_to_interp(depth) == 78);
  }
  DONE();
}
