// Conversions from float and double to every integer width, in range only.
#include <stdio.h>
#include <stdint.h>
static volatile double d[] = {0.0,      -0.0,    0.9999,       -0.9999,       1.5,          126.99, -128.0,  32767.5,
                              -32768.9, 65535.9, 2147483647.5, -2147483648.7, 4294967295.9, 9.2e18, -9.2e18, 1.8e19};
int main(void) {
  for (int i = 0; i < 16; i++) {
    double x = d[i];
    float f = (float)x;
    if (x > -129 && x < 128) printf("%d ", (int8_t)x);
    if (x > -1 && x < 256) printf("%u ", (uint8_t)x);
    if (x > -32769 && x < 32768) printf("%d %d ", (int16_t)x, (int16_t)x);
    if (x > -1 && x < 65536) printf("%u ", (uint16_t)x);
    if (x > -2147483649.0 && x < 2147483648.0) printf("%d ", (int32_t)x);
    if (x > -1 && x < 4294967296.0) printf("%u ", (uint32_t)x);
    if (x > -9.3e18 && x < 9.22e18) printf("%lld %lld ", (long long)x, (long long)f);
    if (x > -1) printf("%llu %llu", (unsigned long long)x, (unsigned long long)f);
    puts("");
  }
  return 0;
}
