// x86 80-bit long double arithmetic, comparison, conversions and memory layout.
#include <stdio.h>
#include <string.h>
static volatile long double v[] = {1.0L, 3.0L, -0.1L, 1e4000L, 3.6e-4951L, 18446744073709551615.0L, 0.5L};
static void p(long double x) {
  unsigned char b[16] = {0};
  memcpy(b, &x, 10);
  for (int i = 9; i >= 0; i--) printf("%02x", b[i]);
  putchar(' ');
}
int main(void) {
  for (int i = 0; i < 7; i++) {
    for (int j = 0; j < 7; j++) {
      p(v[i] + v[j]);
      p(v[i] * v[j]);
      p(v[i] / v[j]);
      p(v[i] - v[j]);
      printf("%d\n", v[i] < v[j]);
    }
  }
  volatile long double big = 1.8446744073709551615e19L;
  printf("%llu %lld %d %a %a\n", (unsigned long long)big, (long long)v[2], (int)v[1], (double)v[2],
         (float)(v[0] / v[1]));
  p((long double)(int)-5);
  p((long double)~0ull);
  p((long double)0.1f);
  p(-v[0]);
  puts("");
  printf("%zu %zu\n", sizeof(long double), _Alignof(long double));
  return 0;
}
