// levels: O0 O1 O2 O3 Os
// One program of mixed loops at -O1, -O3 and -Os: choices of unrolling, vectorizing and outlining must not change the result.
#include <stdio.h>
static int a[256], b[256];
static unsigned char img[32][32];
int main(void) {
  for (int i = 0; i < 256; i++) {
    a[i] = (i * 71) % 257 - 100;
    b[i] = i ^ 0x55;
  }
  for (int r = 0; r < 4; r++)
    for (int i = 1; i < 255; i++) a[i] = (a[i - 1] + 2 * a[i] + a[i + 1]) / 4 + (b[i] > a[i] ? b[i] : -a[i]) % 50;
  for (int y = 0; y < 32; y++)
    for (int x = 0; x < 32; x++) img[y][x] = (unsigned char)(x * y + a[(x + y) & 255]);
  unsigned h = 0;
  for (int y = 1; y < 31; y++)
    for (int x = 1; x < 31; x++) {
      int g = 0;
      for (int j = -1; j < 2; j++)
        for (int i = -1; i < 2; i++) g += img[y + j][x + i] * (i * j + 2);
      h = h * 31 + (unsigned)g;
    }
  long s = 0;
  for (int i = 0; i < 256; i++) s += (long)a[i] * b[255 - i];
  printf("%u %ld\n", h, s);
  return 0;
}
