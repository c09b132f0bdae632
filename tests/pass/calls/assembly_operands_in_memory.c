// Language extension of C: an operand of inline assembly that may be in a register or in memory leaves the bytes beside it alone.
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include <string.h>

#define NAME(t) keep_##t
#define KEEP(t)                                                                                    \
  __attribute__((noinline)) static void NAME(t)(t * p) { __asm__ volatile("" : "+g"(*p)); }        \
  __attribute__((noinline)) static void set_##t(t *p, t v) {                                       \
    __asm__ volatile("" : "=rm"(*p) : "0"(v));                                                     \
  }
typedef unsigned char byte;
typedef struct {
  short low, high;
} pair;
KEEP(byte)
KEEP(short)
KEEP(int)
KEEP(long)
KEEP(pair)
__attribute__((noinline)) static void add(short *p, short v) {
  __asm__ volatile("addw %1, %0" : "+rm"(*p) : "r"(v) : "cc");
}

static byte bytes[32];
static void fill(void) {
  for (int i = 0; i < 32; i++)
    bytes[i] = i + 1;
}
// Checks that only bytes in a range differ from those of `fill`.
static void check_beside(int from, int size) {
  for (int i = 0; i < 32; i++)
    if (i < from || i >= from + size)
      CHECK(bytes[i] == i + 1);
}

#define TRY(t, value)                                                                              \
  do {                                                                                             \
    t v = value, got;                                                                              \
    fill();                                                                                        \
    NAME(t)((t *)(bytes + 8));                                                                     \
    check_beside(0, 0);                                                                            \
    set_##t((t *)(bytes + 8), v);                                                                  \
    check_beside(8, sizeof(t));                                                                    \
    memcpy(&got, bytes + 8, sizeof(t));                                                            \
    CHECK(memcmp(&got, &v, sizeof(t)) == 0);                                                       \
  } while (0)

int main(void) {
  TRY(byte, 99);
  TRY(short, -3);
  TRY(int, 1 << 30);
  TRY(long, -1L << 40);
  TRY(pair, ((pair){7, -7}));
  fill();
  add((short *)(bytes + 8), 1);
  check_beside(8, 2);
  CHECK(bytes[8] == 10 && bytes[9] == 10);
  DONE();
}
