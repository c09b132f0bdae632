// shl, lshr and ashr at every width with variable amounts.
#include <stdio.h>
#include <stdint.h>
static volatile uint64_t pat[] = {1, 0x80, 0x8000, 0x80000000, 0x8000000000000000, 0xdeadbeefcafef00d, ~0ull};
int main(void) {
  for (int i = 0; i < 7; i++) {
    uint64_t h = 0, x = pat[i];
    for (volatile unsigned n = 0; n < 64; n++) {
      h = h * 33 + (x << n);
      h = h * 33 + (x >> n);
      h = h * 33 + (uint64_t)((int64_t)x >> n);
      if (n < 32) {
        h = h * 33 + ((uint32_t)x << n);
        h += (uint32_t)x >> n;
        h ^= (uint64_t)(int64_t)((int32_t)x >> n);
      }
      if (n < 16) {
        h = h * 33 + (uint16_t)((uint16_t)x << n);
        h += (uint16_t)x >> n;
        h ^= (uint64_t)(int64_t)((int16_t)x >> n);
      }
      if (n < 8) {
        h = h * 33 + (uint8_t)((uint8_t)x << n);
        h += (uint8_t)x >> n;
        h ^= (uint64_t)(int64_t)((int8_t)x >> n);
      }
    }
    printf("%016llx\n", (unsigned long long)h);
  }
  return 0;
}
