// Every integer comparison predicate, signed and unsigned, at four widths.
#include <stdio.h>
#include <stdint.h>
#define CMP(T)                                                                                                         \
  do {                                                                                                                 \
    static volatile T v[] = {0, 1, (T) - 1, (T) - 2, (T)0x7f, (T)0x80, (T)1 << (sizeof(T) * 8 - 2)};                   \
    printf(#T " ");                                                                                                    \
    for (int i = 0; i < 7; i++)                                                                                        \
      for (int j = 0; j < 7; j++) {                                                                                    \
        T a = v[i], b = v[j];                                                                                          \
        putchar('@' + ((a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4));                       \
      }                                                                                                                \
    puts("");                                                                                                          \
  } while (0)
int main(void) {
  CMP(int8_t);
  CMP(uint8_t);
  CMP(int16_t);
  CMP(uint16_t);
  CMP(int32_t);
  CMP(uint32_t);
  CMP(int64_t);
  CMP(uint64_t);
  return 0;
}
