// for, while, do, break, continue, comma, nested loops with several induction variables.
#include <stdio.h>
int main(void) {
  volatile int n = 25;
  long s = 0;
  int i, j;
  for (i = 0, j = n; i < j; i++, j -= 2) s = s * 3 + i * j;
  while (1) {
    if (++i > 60) break;
    if (i & 1) continue;
    s ^= i;
  }
  do { s += j--; } while (j > -5);
  for (unsigned u = 10; u-- > 0;) s = s * 5 + u;
  for (signed char c = 100; c > 0; c = (signed char)(c + 13)) s += c;
  for (double d = 0; d < 1; d += 0.125) s += (long)(d * 8);
  for (char *p = "walk"; *p; ++p) s = s * 7 + *p;
  printf("%ld %d %d\n", s, i, j);
  return 0;
}
