// exit: 2
// _Bool values: conversions, short circuit, i1 arithmetic and stores as bytes.
#include <stdio.h>
#include <stdbool.h>
#include <string.h>
static int calls;
static bool f(int x) {
  calls++;
  return x;
}
int main(void) {
  volatile int z = 0, t = 256;
  volatile double nan = __builtin_nan("");
  bool a = t, b = z, c = nan, d = (char)t;
  printf("%d %d %d %d\n", a, b, c, d);
  printf("%d %d %d\n", f(z) && f(t), f(t) || f(z), calls);
  printf("%d %d %d %d\n", a ^ b, a + a, !a, ~(int)a);
  bool arr[4] = {a, b, !b, a && !b};
  unsigned char bytes[4];
  memcpy(bytes, arr, 4);
  printf("%d%d%d%d %zu\n", bytes[0], bytes[1], bytes[2], bytes[3], sizeof arr);
  a++;
  b = b - 1 > 0;
  printf("%d %d\n", a, b);
  return calls;
}
