// exit: 7
// Structs returned by libc: div, ldiv, lldiv, imaxdiv.
#include <stdio.h>
#include <stdlib.h>
#include <inttypes.h>
int main(void) {
  volatile int a[] = {7, -7, 100, -1}, b[] = {3, -3, 7, 9};
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      div_t d = div(a[i], b[j]);
      ldiv_t l = ldiv(a[i] * 10000000000l, b[j]);
      lldiv_t m = lldiv(a[i] * 3ll, b[j]);
      imaxdiv_t x = imaxdiv(a[i] + 1000000000000, b[j]);
      printf("%d %d %ld %ld %lld %lld %jd %jd\n", d.quot, d.rem, l.quot, l.rem, m.quot, m.rem, x.quot, x.rem);
    }
  ldiv_t (*volatile fp)(long, long) = ldiv;
  return (int)fp(47, 10).rem;
}
