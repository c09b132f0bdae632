// Reductions of the lanes of vectors of many lengths (loops of clang's vectorizer; OpenMP 5.2, 10.4),
// beside the same in loops of scalars
// options: --tier=baseline
// stdout: ok
#include "../../check.h"

typedef unsigned u32;
typedef unsigned long u64;

#define REDUCE(NAME, TYPE, N, BUILTIN, OP)                                     \
  __attribute__((noinline)) static TYPE NAME##N(const TYPE *p, TYPE add) {     \
    typedef TYPE lanes __attribute__((ext_vector_type(N)));                    \
    lanes v;                                                                   \
    for (int i = 0; i < N; i++)                                                \
      v[i] = p[i];                                                             \
    return BUILTIN(v ^ (lanes)add) + add;                                      \
  }                                                                            \
  static void check_##NAME##N(const TYPE *p) {                                 \
    for (TYPE add = 0; add < 3; add++) {                                       \
      TYPE r = p[0] ^ add;                                                     \
      for (int i = 1; i < N; i++) {                                            \
        TYPE a = r, b = p[i] ^ add;                                            \
        __asm__("" : "+r"(a));                                                 \
        r = OP;                                                                \
      }                                                                        \
      CHECK(NAME##N(p, add) == (TYPE)(r + add));                               \
    }                                                                          \
  }

#define LENGTHS(NAME, TYPE, BUILTIN, OP)                                       \
  REDUCE(NAME, TYPE, 2, BUILTIN, OP)                                           \
  REDUCE(NAME, TYPE, 3, BUILTIN, OP)                                           \
  REDUCE(NAME, TYPE, 4, BUILTIN, OP)                                           \
  REDUCE(NAME, TYPE, 5, BUILTIN, OP)                                           \
  REDUCE(NAME, TYPE, 6, BUILTIN, OP)                                           \
  REDUCE(NAME, TYPE, 8, BUILTIN, OP)                                           \
  REDUCE(NAME, TYPE, 10, BUILTIN, OP)                                          \
  REDUCE(NAME, TYPE, 12, BUILTIN, OP)                                          \
  REDUCE(NAME, TYPE, 16, BUILTIN, OP)                                          \
  REDUCE(NAME, TYPE, 32, BUILTIN, OP)                                          \
  REDUCE(NAME, TYPE, 40, BUILTIN, OP)                                          \
  static void check_##NAME(const TYPE *p) {                                    \
    check_##NAME##2(p);                                                        \
    check_##NAME##3(p);                                                        \
    check_##NAME##4(p);                                                        \
    check_##NAME##5(p);                                                        \
    check_##NAME##6(p);                                                        \
    check_##NAME##8(p);                                                        \
    check_##NAME##10(p);                                                       \
    check_##NAME##12(p);                                                       \
    check_##NAME##16(p);                                                       \
    check_##NAME##32(p);                                                       \
    check_##NAME##40(p);                                                       \
  }

LENGTHS(add32_, u32, __builtin_reduce_add, a + b)
LENGTHS(mul32_, u32, __builtin_reduce_mul, a *b)
LENGTHS(and32_, u32, __builtin_reduce_and, a &b)
LENGTHS(or32_, u32, __builtin_reduce_or, a | b)
LENGTHS(xor32_, u32, __builtin_reduce_xor, a ^ b)
LENGTHS(smin32_, int, __builtin_reduce_min, a < b ? a : b)
LENGTHS(smax32_, int, __builtin_reduce_max, a > b ? a : b)
LENGTHS(umin32_, u32, __builtin_reduce_min, a < b ? a : b)
LENGTHS(umax32_, u32, __builtin_reduce_max, a > b ? a : b)
LENGTHS(add64_, u64, __builtin_reduce_add, a + b)
LENGTHS(and64_, u64, __builtin_reduce_and, a &b)
LENGTHS(or64_, u64, __builtin_reduce_or, a | b)
LENGTHS(xor64_, u64, __builtin_reduce_xor, a ^ b)

int main(void) {
  u32 words[40];
  u64 longs[40];
  u64 state = 88172645463325252;
  for (int i = 0; i < 40; i++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    // Mostly ones, so that conjunctions differ from 0.
    longs[i] = state | state << 11 | 1;
    words[i] = longs[i] >> 16 | 1;
  }
  check_add32_(words), check_mul32_(words), check_and32_(words);
  check_or32_(words), check_xor32_(words);
  check_smin32_((int *)words), check_smax32_((int *)words);
  check_umin32_(words), check_umax32_(words);
  check_add64_(longs), check_and64_(longs), check_or64_(longs), check_xor64_(longs);
  return DONE();
}
