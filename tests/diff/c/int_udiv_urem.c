// Unsigned division and remainder, 8 to 64 bits, with high bits set.
#include <stdio.h>
#include <stdint.h>
static volatile uint64_t v[] = {
    1, 2, 3, 5, 10, 255, 256, 65535, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x8000000000000000, UINT64_MAX};
int main(void) {
  uint64_t h = 0;
  for (int i = 0; i < 14; i++)
    for (int j = 0; j < 14; j++) {
      uint64_t a = v[i], b = v[j];
      h = h * 1099511628211u + a / b;
      h = h * 1099511628211u + a % b;
      if ((uint32_t)b) h ^= (uint64_t)((uint32_t)a / (uint32_t)b) << 7 ^ (uint32_t)a % (uint32_t)b;
      if ((uint16_t)b) h += (uint16_t)a / (uint16_t)b + (uint16_t)a % (uint16_t)b;
      if ((uint8_t)b) h -= (uint8_t)a / (uint8_t)b * 3u + (uint8_t)a % (uint8_t)b;
      if (i == 13) printf("%llu %llu\n", (unsigned long long)(a / b), (unsigned long long)(a % b));
    }
  printf("%llx\n", (unsigned long long)h);
  return 0;
}
