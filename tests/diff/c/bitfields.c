// Kinds of bit-fields: signed and unsigned, crossing units, zero width, wrapping stores, bool, 64-bit wide.
#include <stdio.h>
#include <string.h>
struct b {
  unsigned a : 3;
  int b : 5;
  unsigned c : 24;
  unsigned : 0;
  unsigned long long d : 47;
  long long e : 17;
  _Bool f : 1;
  signed char g : 4;
};
struct __attribute__((packed)) q {
  unsigned a : 7;
  unsigned b : 11;
  unsigned long long c : 33;
  int d : 13;
};
int main(void) {
  struct b x;
  memset(&x, 0, sizeof x);
  struct q y;
  memset(&y, 0, sizeof y);
  unsigned h = 0;
  for (volatile int i = 0; i < 40; i++) {
    x.a += (unsigned)i & 7;
    x.b = (i * 3 & 31) - 16;
    x.c = x.c * 3u + (unsigned)i;
    x.d += 1ull << (i + 7);
    x.e = (i * 999 & 0xffff) - 30000;
    x.f = i & 4;
    x.g = (i & 15) - 8;
    y.a++;
    y.b += 77;
    y.c = y.c * 5 + (unsigned)i;
    y.d = (i * 211 & 0xfff) - 2000;
    x.a++;
    x.f ^= 1;
    h = h * 31 + x.a + (unsigned)x.b + x.c + (unsigned)x.d + (unsigned)(x.d >> 20) + (unsigned)x.e + x.f +
        (unsigned)x.g + y.a + y.b + (unsigned)y.c + (unsigned)y.d;
  }
  unsigned g = 0;
  for (size_t i = 0; i < sizeof y; i++) g = g * 31 + ((unsigned char *)&y)[i];
  printf("%u %u %zu %zu %d %llu %lld %d\n", h, g, sizeof x, sizeof y, x.b, (unsigned long long)x.d, (long long)x.e,
         x.g);
  return 0;
}
