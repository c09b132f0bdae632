// Byte swaps and bit reversal at all widths.
#include <stdio.h>
#include <byteswap.h>
#include <arpa/inet.h>
static volatile unsigned long long v[] = {0, 1, 0x0102030405060708, 0xf0e1d2c3b4a59687, ~0ull};
int main(void) {
  for (int i = 0; i < 5; i++) {
    unsigned long long x = v[i];
    printf("%04x %08x %016llx ", __builtin_bswap16((unsigned short)x), __builtin_bswap32((unsigned)x),
           (unsigned long long)__builtin_bswap64(x));
    printf("%02x %04x %08x %016llx ", __builtin_bitreverse8((unsigned char)x),
           __builtin_bitreverse16((unsigned short)x), __builtin_bitreverse32((unsigned)x),
           (unsigned long long)__builtin_bitreverse64(x));
    printf("%04x %08x %x %llx\n", bswap_16((unsigned short)x), htonl((unsigned)x), ntohs((unsigned short)x),
           (unsigned long long)bswap_64(x));
  }
  return 0;
}
