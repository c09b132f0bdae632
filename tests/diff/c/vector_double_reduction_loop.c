// Reductions clang may vectorize for integers but must keep in order for floats.
#include <stdio.h>
static float f[512];
static double d[512];
static long l[512];
static unsigned char c[512];
int main(void) {
  for (int i = 0; i < 512; i++) {
    f[i] = (float)(i % 17) * 0.1f;
    d[i] = 1.0 / (i + 1);
    l[i] = i * 1234567l % 1001 - 500;
    c[i] = (unsigned char)(i * 7);
  }
  float fs = 0;
  double ds = 0, dp = 1;
  long ls = 0, lm = -1000, lx = 0;
  unsigned cs = 0, cm = 255;
  for (int i = 0; i < 512; i++) {
    fs += f[i];
    ds += d[i] * f[i];
    dp *= 1 + d[i] / 64;
    ls += l[i];
    lm = l[i] > lm ? l[i] : lm;
    lx ^= l[i];
    cs += c[i];
    cm = c[i] < cm ? c[i] : cm;
  }
  printf("%a %a %a %ld %ld %lx %u %u\n", fs, ds, dp, ls, lm, lx, cs, cm);
  for (int i = 0; i < 509; i++) {
    l[i] = l[i + 3] * 2 - (l[i] >> 1);
    c[i] = (unsigned char)((c[i] + c[i + 3] + 1) >> 1);
  }
  unsigned long h = 0;
  for (int i = 0; i < 512; i++) h = h * 31 + (unsigned long)l[i] + c[i];
  printf("%lx\n", h);
  return 0;
}
