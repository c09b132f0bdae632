// C11, 7.16: variadic arguments in registers and behind them. A structure that is aligned to 16 bytes takes the next two
// registers, but an aligned place on the stack; integers, floats and structures of both share their order.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <stdarg.h>

typedef struct __attribute__((aligned(16))) { long a, b; } Aligned;
typedef struct { long a, b; } Pair;
typedef struct { double a; long b; } Mixed;
typedef struct { double a, b; } Doubles;
typedef struct __attribute__((aligned(32))) { double a, b, c, d; } Large;
typedef struct { long a, b, c; } Memory;

// Reads `before` integers, and as many doubles if `doubles`, then a value of each kind.
#define READER(NAME, TYPE)                                                                                             \
  __attribute__((noinline)) static TYPE NAME(int before, int doubles, ...) {                                           \
    va_list list, copy;                                                                                                \
    va_start(list, doubles);                                                                                           \
    for (int i = 0; i < before; i++) {                                                                                 \
      CHECK(va_arg(list, int) == i);                                                                                   \
      if (doubles) CHECK(va_arg(list, double) == i + .5);                                                              \
    }                                                                                                                  \
    va_copy(copy, list);                                                                                               \
    TYPE value = va_arg(list, TYPE);                                                                                   \
    CHECK(va_arg(list, int) == 77);                                                                                    \
    CHECK(va_arg(list, double) == 7.75);                                                                               \
    va_end(list);                                                                                                      \
    (void)va_arg(copy, TYPE);                                                                                          \
    CHECK(va_arg(copy, int) == 77);                                                                                    \
    va_end(copy);                                                                                                      \
    return value;                                                                                                      \
  }
READER(aligned, Aligned)
READER(pair, Pair)
READER(mixed, Mixed)
READER(doubles_of, Doubles)
READER(large, Large)
READER(memory, Memory)
READER(wide, __int128)
READER(extended, long double)

#define ALL(BEFORE, DOUBLES, ...)                                                                                      \
  do {                                                                                                                 \
    Aligned a = aligned(BEFORE, DOUBLES, ##__VA_ARGS__, (Aligned){3, 4}, 77, 7.75);                                    \
    CHECK(a.a == 3 && a.b == 4);                                                                                       \
    Pair p = pair(BEFORE, DOUBLES, ##__VA_ARGS__, (Pair){5, 6}, 77, 7.75);                                             \
    CHECK(p.a == 5 && p.b == 6);                                                                                       \
    Mixed m = mixed(BEFORE, DOUBLES, ##__VA_ARGS__, (Mixed){1.5, 8}, 77, 7.75);                                        \
    CHECK(m.a == 1.5 && m.b == 8);                                                                                     \
    Doubles d = doubles_of(BEFORE, DOUBLES, ##__VA_ARGS__, (Doubles){2.5, 3.5}, 77, 7.75);                             \
    CHECK(d.a == 2.5 && d.b == 3.5);                                                                                   \
    Large l = large(BEFORE, DOUBLES, ##__VA_ARGS__, (Large){1, 2, 3, 4}, 77, 7.75);                                    \
    CHECK(l.a == 1 && l.b == 2 && l.c == 3 && l.d == 4);                                                               \
    Memory y = memory(BEFORE, DOUBLES, ##__VA_ARGS__, (Memory){7, 8, 9}, 77, 7.75);                                    \
    CHECK(y.a == 7 && y.b == 8 && y.c == 9);                                                                           \
    __int128 w = wide(BEFORE, DOUBLES, ##__VA_ARGS__, ((__int128)10 << 64) | 11, 77, 7.75);                            \
    CHECK((long)(w >> 64) == 10 && (long)w == 11);                                                                     \
    CHECK(extended(BEFORE, DOUBLES, ##__VA_ARGS__, 1.25L, 77, 7.75) == 1.25L);                                         \
  } while (0)

// The same with more fixed parameters, some of them on the stack, and through a pointer.
__attribute__((noinline)) static long sum(long a, double x, Memory m, long b, long c, long d, long e, long f, int n,
                                          ...) {
  long all = a + (long)x + m.a + m.b + m.c + b + c + d + e + f;
  va_list list;
  va_start(list, n);
  for (int i = 0; i < n; i++) all += va_arg(list, Aligned).b + va_arg(list, long) + (long)va_arg(list, double);
  va_end(list);
  return all;
}
static long (*volatile through)(long, double, Memory, long, long, long, long, long, int, ...) = sum;

// A list that another function reads on.
__attribute__((noinline)) static long rest(va_list list, int n) {
  long all = 0;
  for (int i = 0; i < n; i++) all = all * 10 + va_arg(list, int);
  return all;
}
__attribute__((noinline)) static long digits(int n, ...) {
  va_list list;
  va_start(list, n);
  long first = va_arg(list, int), all = rest(list, n - 1);
  va_end(list);
  return first * 1000 + all;
}

int main(void) {
  ALL(0, 0);
  ALL(1, 0, 0);
  ALL(2, 0, 0, 1);
  ALL(3, 0, 0, 1, 2);
  ALL(4, 0, 0, 1, 2, 3);
  ALL(5, 0, 0, 1, 2, 3, 4);
  ALL(6, 0, 0, 1, 2, 3, 4, 5);
  ALL(7, 0, 0, 1, 2, 3, 4, 5, 6);
  ALL(1, 1, 0, .5);
  ALL(3, 1, 0, .5, 1, 1.5, 2, 2.5);
  ALL(8, 1, 0, .5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5);
  ALL(9, 1, 0, .5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5);
  Memory m = {1, 2, 3};
  CHECK(sum(1, 2., m, 3, 4, 5, 6, 7, 2, (Aligned){0, 10}, 20L, 30., (Aligned){0, 100}, 200L, 300.) == 694);
  CHECK(through(1, 2., m, 3, 4, 5, 6, 7, 1, (Aligned){0, 10}, 20L, 30.) == 94);
  CHECK(digits(4, 1, 2, 3, 4) == 1234);
  return DONE();
}
