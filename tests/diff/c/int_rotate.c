// Rotations in the shape clang turns into fshl and fshr, and its rotate builtins.
#include <stdio.h>
#include <stdint.h>
static uint32_t rol(uint32_t x, unsigned n) { return x << (n & 31) | x >> (-n & 31); }
static uint64_t ror(uint64_t x, unsigned n) { return x >> (n & 63) | x << (-n & 63); }
int main(void) {
  volatile uint32_t a = 0x12345678;
  volatile uint64_t b = 0xfedcba9876543210;
  for (volatile unsigned n = 0; n < 70; n += 7)
    printf("%08x %016llx %02x %04x %08x %016llx\n", rol(a, n), (unsigned long long)ror(b, n),
           __builtin_rotateleft8((uint8_t)a, (uint8_t)n), __builtin_rotateright16((uint16_t)a, (uint16_t)n),
           __builtin_rotateright32(a, n), (unsigned long long)__builtin_rotateleft64(b, n));
  return 0;
}
