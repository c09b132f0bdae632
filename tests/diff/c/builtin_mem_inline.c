// memcpy, memmove, memset and memcmp with constant and variable sizes, overlapping ranges.
#include <stdio.h>
#include <string.h>
int main(void) {
  char a[128], b[128];
  volatile size_t n = 37, zero = 0;
  memset(a, 0x41, sizeof a);
  memset(b, 0, sizeof b);
  for (int i = 0; i < 64; i++) a[i] = (char)('!' + i);
  __builtin_memcpy_inline(b, a, 16);
  memcpy(b + 20, a + 3, n);
  memcpy(b, a, zero);
  memmove(a + 5, a, n);
  memmove(a, a + 7, 40);
  memset(b + 60, '#', n / 4);
  unsigned h = 0;
  for (int i = 0; i < 128; i++) h = h * 31 + (unsigned char)a[i] * 7 + (unsigned char)b[i];
  printf("%u %d %d %d\n", h, memcmp(a, b, n) > 0, memcmp(a, a, sizeof a), memcmp("ab", "ac", 2) < 0);
  printf("%.60s|%.66s\n", a, b);
  struct big {
    int v[40];
  } x, y;
  for (int i = 0; i < 40; i++) x.v[i] = i * i;
  y = x;
  y.v[3] = 1;
  printf("%d %d %d\n", y.v[39], y.v[3], x.v[3]);
  return 0;
}
