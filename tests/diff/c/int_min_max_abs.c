// min, max and abs in the shapes clang turns into smin, umax, abs and friends.
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
static volatile int64_t v[] = {0, -1, 1, 127, -127, 32000, -32000, 2147483647, -2147483647, 1ll << 40, -(1ll << 40)};
int main(void) {
  for (int i = 0; i < 11; i++)
    for (int j = 0; j < 11; j++) {
      int64_t a = v[i], b = v[j];
      int c = (int)a, d = (int)b;
      uint16_t e = (uint16_t)a, f = (uint16_t)b;
      int8_t g = (int8_t)a, h = (int8_t)b;
      printf("%lld %lld %d %u %u %d %lld %d\n", (long long)(a < b ? a : b), (long long)(a > b ? a : b), c < d ? c : d,
             e<f ? e : f, (unsigned)c>(unsigned) d ? (unsigned)c : (unsigned)d, g > h ? g : h, (long long)llabs(a),
             abs(g));
    }
  return 0;
}
