// Saturating and clamping idioms, averaging without overflow, absolute difference, carry chains.
#include <stdio.h>
#include <stdint.h>
static uint8_t adds(uint8_t a, uint8_t b) {
  unsigned s = a + b;
  return s > 255 ? 255 : (uint8_t)s;
}
static int16_t cl(int x) { return (int16_t)(x < -32768 ? -32768 : x > 32767 ? 32767 : x); }
static uint32_t subs(uint32_t a, uint32_t b) { return a > b ? a - b : 0; }
static uint32_t avg(uint32_t a, uint32_t b) { return (a & b) + ((a ^ b) >> 1); }
int main(void) {
  volatile uint32_t v[] = {0, 1, 200, 255, 70000, 0xfffffff0, 0x80000000};
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 7; j++) {
      uint32_t a = v[i], b = v[j];
      uint32_t c = __builtin_elementwise_add_sat(a, b);
      int32_t d = __builtin_elementwise_sub_sat((int32_t)a, (int32_t)b);
      printf("%u %d %u %u %u %d %u\n", adds((uint8_t)a, (uint8_t)b), cl((int32_t)a / 2 - (int32_t)(b >> 2)), subs(a, b),
             avg(a, b), c, d, a > b ? a - b : b - a);
    }
  return 0;
}
