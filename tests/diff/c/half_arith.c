// _Float16 arithmetic, comparison, conversion, arrays and arguments.
#include <stdio.h>
#include <string.h>
static unsigned bits(_Float16 x) {
  unsigned short u;
  memcpy(&u, &x, 2);
  return u;
}
__attribute__((noinline)) static _Float16 mad(_Float16 a, _Float16 b, _Float16 c) {
  _Float16 t = a * b;
  return t + c;
}
static volatile _Float16 v[] = {0.0f16, 1.0f16, -2.5f16, 0.1f16, 1024.0f16, 65504.0f16, 6e-8f16, 3.14f16};
int main(void) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) {
      _Float16 a = v[i], b = v[j];
      printf("%04x %04x %04x %04x %d%d%d %04x ", bits(a + b), bits(a - b), bits(a * b), bits(-a), a < b, a == b, a >= b,
             bits(mad(a, b, v[7])));
      if (b != 0) printf("%04x", bits(a / b));
      puts("");
    }
  printf("%d %u %lld %04x %04x\n", (int)v[4], (unsigned)v[5], (long long)v[2], bits((_Float16)12345),
         bits((_Float16)-7ll));
  return 0;
}
