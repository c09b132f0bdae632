// Conversions from every integer width to float, double and long double, with rounding.
#include <stdio.h>
#include <stdint.h>
static volatile uint64_t v[] = {0,
                                1,
                                127,
                                0x80,
                                0xffff,
                                16777217,
                                0x7fffffff,
                                0x80000000,
                                0xffffffff,
                                9007199254740993,
                                0x7fffffffffffffff,
                                0x8000000000000000,
                                0x8000000000000401,
                                ~0ull};
int main(void) {
  for (int i = 0; i < 14; i++) {
    uint64_t x = v[i];
    printf("%a %a %a %a %a %a ", (float)(int8_t)x, (float)(uint16_t)x, (float)(int32_t)x, (float)(uint32_t)x,
           (float)(int64_t)x, (float)x);
    printf("%a %a %a %a %La %La\n", (double)(uint8_t)x, (double)(int32_t)x, (double)(int64_t)x, (double)x,
           (long double)(int64_t)x, (long double)x);
  }
  return 0;
}
