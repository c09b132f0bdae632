// Truncation, sign and zero extension between all widths.
#include <stdio.h>
#include <stdint.h>
static volatile uint64_t v[] = {
    0, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff80000000, 0x123456789abcdef0};
int main(void) {
  for (int i = 0; i < 11; i++) {
    uint64_t x = v[i];
    printf("%d %u %d %u %d %u ", (int8_t)x, (uint8_t)x, (int16_t)x, (uint16_t)x, (int32_t)x, (uint32_t)x);
    printf("%lld %lld %lld %llu %llu %d %d\n", (long long)(int8_t)x, (long long)(int16_t)x, (long long)(int32_t)x,
           (unsigned long long)(uint8_t)x, (unsigned long long)(uint32_t)x, (int16_t)(int8_t)x, (_Bool)x);
  }
  return 0;
}
