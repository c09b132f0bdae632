// __int128 shifts by variable amounts, conversions from and to float and double.
#include <stdio.h>
#include <stdint.h>
typedef unsigned __int128 u128;
typedef __int128 i128;
int main(void) {
  volatile uint64_t h = 0x8123456789abcdef, l = 0xfedcba9876543211;
  u128 x = (u128)h << 64 | l, acc = 0;
  for (volatile int n = 0; n < 128; n += 9) {
    u128 a = x << n, b = x >> n, c = (u128)((i128)x >> n);
    acc = acc * 31 + a + (b ^ c);
    printf("%d %llx %llx %llx\n", n, (unsigned long long)(a >> 64), (unsigned long long)b,
           (unsigned long long)(c >> 64));
  }
  printf("%llx %llx\n", (unsigned long long)(acc >> 64), (unsigned long long)acc);
  volatile double d = 1.2345e30, e = -7.5e25;
  volatile float f = 3e20f;
  i128 s = (i128)e;
  u128 u = (u128)d, v = (u128)f;
  printf("%llx %llx %llx %llx %llx\n", (unsigned long long)(u >> 64), (unsigned long long)u,
         (unsigned long long)(s >> 64), (unsigned long long)s, (unsigned long long)(v >> 64));
  printf("%.17g %.17g %.9g %.9g\n", (double)x, (double)(i128)x, (float)(x >> 3), (float)(i128)x);
  printf("%Lg %Lg\n", (long double)x, (long double)(i128)x);
  return 0;
}
