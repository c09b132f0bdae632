// Wrapping add, sub and mul at 8, 16, 32 and 64 bits.
#include <stdio.h>
#include <stdint.h>
#define RUN(T, F)                                                                                                      \
  do {                                                                                                                 \
    static volatile T in[] = {                                                                                         \
        0, 1, 2, 3, (T) - 1, (T) - 2, (T)0x55, (T)0xaaaaaaaaaaaaaaaa, (T)1 << (sizeof(T) * 8 - 1)};                    \
    uint64_t h = 0;                                                                                                    \
    for (int i = 0; i < 9; i++)                                                                                        \
      for (int j = 0; j < 9; j++) {                                                                                    \
        T a = in[i], b = in[j];                                                                                        \
        T s = (T)(a + b), d = (T)(a - b), m = (T)((uint64_t)a * b);                                                    \
        h = h * 31 + s;                                                                                                \
        h = h * 31 + d;                                                                                                \
        h = h * 31 + m;                                                                                                \
      }                                                                                                                \
    printf(#T " %llx\n", (unsigned long long)h);                                                                       \
  } while (0)
int main(void) {
  RUN(uint8_t, u8);
  RUN(uint16_t, u16);
  RUN(uint32_t, u32);
  RUN(uint64_t, u64);
  return 0;
}
