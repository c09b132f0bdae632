// and, or, xor, not and bit tests over several widths.
#include <stdio.h>
#include <stdint.h>
static volatile uint64_t v[] = {0, 1, 0xff00ff00ff00ff00, 0x0f0f0f0f0f0f0f0f, 0x8000000000000001, ~0ull};
int main(void) {
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      uint64_t a = v[i], b = v[j];
      uint8_t c = (uint8_t)a, d = (uint8_t)(b >> 8);
      printf("%llx %llx %llx %llx %d %d %d %d\n", (unsigned long long)(a & b), (unsigned long long)(a | ~b),
             (unsigned long long)(a ^ b), (unsigned long long)(a & -a), c & d, c | d, c ^ d, (uint8_t)~c);
    }
  return 0;
}
