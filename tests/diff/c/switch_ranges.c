// exit: 5
// GNU case ranges, over char and unsigned long.
#include <stdio.h>
static int cls(int c) {
  switch (c) {
  case 'a' ... 'z': return 1;
  case 'A' ... 'Z': return 2;
  case '0' ... '9': return 3;
  case 128 ... 255: return 4;
  case '_': return 5;
  default: return 0;
  }
}
static int big(unsigned long x) {
  switch (x) {
  case 0 ... 99: return 0;
  case 1000 ... 1000000: return 1;
  case 0x8000000000000000 ... 0xffffffffffffffff: return 2;
  default: return 3;
  }
}
int main(void) {
  for (volatile int i = 0; i < 256; i++) putchar('0' + cls(i));
  volatile unsigned long v[] = {0, 99, 100, 1000, 1000000, 1000001, 0x7fffffffffffffff, 0x8000000000000000, ~0ul};
  for (int i = 0; i < 9; i++) printf(" %d", big(v[i]));
  puts("");
  return cls('_');
}
