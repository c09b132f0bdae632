// Vector loads and stores through pointers, unaligned and by element, and in loops clang vectorizes.
#include <stdio.h>
#include <string.h>
typedef int v4u __attribute__((vector_size(16), aligned(4)));
typedef int v4 __attribute__((vector_size(16)));
static int buf[1024];
static unsigned short sh[1000];
static double dd[500];
int main(void) {
  for (int i = 0; i < 1024; i++) buf[i] = i * 7 % 101;
  v4 acc = {0};
  for (int i = 1; i + 4 < 1024; i += 3) acc += *(v4u *)(buf + i);
  *(v4u *)(buf + 5) = acc;
  long long s = 0;
  int mx = 0;
  unsigned x = 0;
  for (int i = 0; i < 1024; i++) {
    s += buf[i];
    if (buf[i] > mx) mx = buf[i];
    x ^= (unsigned)buf[i] << (i & 7);
  }
  for (int i = 0; i < 1000; i++) sh[i] = (unsigned short)(i * i);
  unsigned t = 0;
  for (int i = 0; i < 1000; i++) t += sh[i] > 30000 ? sh[i] : 1;
  for (int i = 0; i < 500; i++) dd[i] = i * 0.5;
  for (int i = 0; i < 500; i++) dd[i] = dd[i] * dd[499 - i] + 1;
  double q = 0;
  for (int i = 0; i < 500; i++) q += dd[i];
  printf("%d %d %d %d %lld %d %x %u %a\n", acc[0], acc[1], acc[2], acc[3], s, mx, x, t, q);
  return 0;
}
