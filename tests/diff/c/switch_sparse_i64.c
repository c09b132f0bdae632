// A sparse switch over 64-bit values near the edges of the range.
#include <stdio.h>
#include <stdint.h>
__attribute__((noinline)) static int f(int64_t x) {
  switch (x) {
  case INT64_MIN: return 1;
  case INT64_MAX: return 2;
  case -1: return 3;
  case 0: return 4;
  case 0x100000000: return 5;
  case -0x100000000: return 6;
  case 1000000007: return 7;
  case 0xdeadbeefcafe: return 8;
  case 42: return 9;
  default: return 0;
  }
}
int main(void) {
  volatile int64_t v[] = {INT64_MIN,  INT64_MAX,      -1, 0,  0x100000000, -0x100000000,
                          1000000007, 0xdeadbeefcafe, 42, 43, 1,           INT64_MIN + 1};
  for (int i = 0; i < 12; i++) printf("%d", f(v[i]));
  puts("");
  return 0;
}
