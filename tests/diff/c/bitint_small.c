// _BitInt of odd small widths: wrapping of unsigned ones, sign extension of signed ones.
#include <stdio.h>
int main(void) {
  volatile int in[] = {0, 1, 2, 3, 5, 7, 12, -1, -4};
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 9; j++) {
      unsigned _BitInt(3) a = (unsigned _BitInt(3))in[i], b = (unsigned _BitInt(3))in[j];
      _BitInt(5) c = (_BitInt(5))in[i], d = (_BitInt(5))in[j];
      unsigned _BitInt(17) e = (unsigned _BitInt(17))(in[i] * 30000), f = (unsigned _BitInt(17))(in[j] * 999);
      printf("%d %d %d %d %d %u %u ", (int)(unsigned _BitInt(3))(a + b), (int)(unsigned _BitInt(3))(a * b),
             (int)(a ^ b), (int)c, c < d, (unsigned)(unsigned _BitInt(17))(e + f),
             (unsigned)(unsigned _BitInt(17))(e * f));
      if (b) printf("%d %d ", (int)(a / b), (int)(a % b));
      puts("");
    }
  return 0;
}
