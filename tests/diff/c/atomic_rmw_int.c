// flags: -fwrapv
// Atomic read-modify-write at every integer size: add, sub, and, or, xor, nand, exchange, min, max.
#include <stdio.h>
#include <stdatomic.h>
#include <stdint.h>
#define RUN(T)                                                                                                         \
  do {                                                                                                                 \
    static T x = (T)0x65;                                                                                              \
    long long h = 0;                                                                                                   \
    for (volatile int i = 1; i < 6; i++) {                                                                             \
      T k = (T)(i * 0x1357 - 3);                                                                                       \
      h = h * 31 + __atomic_fetch_add(&x, k, __ATOMIC_SEQ_CST);                                                        \
      h = h * 31 + __atomic_fetch_sub(&x, (T)3, __ATOMIC_RELAXED);                                                     \
      h = h * 31 + __atomic_fetch_and(&x, (T)~5, __ATOMIC_ACQUIRE);                                                    \
      h = h * 31 + __atomic_fetch_or(&x, k, __ATOMIC_RELEASE);                                                         \
      h = h * 31 + __atomic_fetch_xor(&x, (T)0x5a5a, __ATOMIC_ACQ_REL);                                                \
      h = h * 31 + __atomic_fetch_nand(&x, k, __ATOMIC_SEQ_CST);                                                       \
      h = h * 31 + __atomic_exchange_n(&x, (T)(x ^ k), __ATOMIC_SEQ_CST);                                              \
      h = h * 31 + __atomic_fetch_min(&x, k, __ATOMIC_RELAXED);                                                        \
      h = h * 31 + __atomic_fetch_max(&x, (T)(k * 2), __ATOMIC_SEQ_CST);                                               \
      h = h * 31 + __atomic_add_fetch(&x, k, __ATOMIC_SEQ_CST);                                                        \
      h = h * 31 + __atomic_nand_fetch(&x, k, __ATOMIC_SEQ_CST);                                                       \
    }                                                                                                                  \
    printf(#T " %llx %llx\n", (unsigned long long)h, (unsigned long long)(uint64_t)x);                                 \
  } while (0)
int main(void) {
  RUN(int8_t);
  RUN(uint8_t);
  RUN(int16_t);
  RUN(uint16_t);
  RUN(int32_t);
  RUN(uint32_t);
  RUN(int64_t);
  RUN(uint64_t);
  return 0;
}
