// Large frames, many locals, large arrays by pointer, and a function with thirty arguments.
#include <stdio.h>
#include <string.h>
__attribute__((noinline)) static long many(int a0, long a1, char a2, double a3, int a4, long a5, short a6, float a7,
                                           int a8, long a9, int b0, double b1, int b2, long b3, int b4, double b5,
                                           char b6, int b7, float b8, int b9, double c0, double c1, double c2,
                                           double c3, double c4, double c5, int c6, unsigned char c7, _Bool c8,
                                           int *c9) {
  *c9 = c7 + c8;
  return a0 + a1 * 2 + a2 * 3 + (long)a3 * 4 + a4 * 5 + a5 * 6 + a6 * 7 + (long)a7 * 8 + a8 * 9 + a9 * 10 + b0 * 11 +
         (long)b1 * 12 + b2 * 13 + b3 * 14 + b4 * 15 + (long)b5 * 16 + b6 * 17 + b7 * 18 + (long)b8 * 19 + b9 * 20 +
         (long)(c0 + c1 * 2 + c2 * 3 + c3 * 4 + c4 * 5 + c5 * 6) + c6 * 21;
}
__attribute__((noinline)) static unsigned frame(int n) {
  unsigned char buf[20000];
  int v[500];
  memset(buf, n, sizeof buf);
  for (int i = 0; i < 500; i++) v[i] = i ^ n;
  unsigned h = 0;
  for (int i = 0; i < 500; i++) h = h * 31 + (unsigned)v[i] + buf[i * 40];
  return n ? h + frame(n - 1) : h;
}
int main(void) {
  int o;
  long r = many(1, 2, 3, 4, 5, 6, -7, 8, 9, 10, 11, 12, 13, 14, 15, 16, -17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
                255, 1, &o);
  printf("%ld %d %u\n", r, o, frame(20));
  return 0;
}
