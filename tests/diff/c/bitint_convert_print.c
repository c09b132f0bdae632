// flags: -std=c23
// _BitInt conversions: to and from floating types, other widths, bool, with _BitInt constants.
#include <stdio.h>
int main(void) {
  volatile double d[] = {0.0, 1.5, -3.75, 1e6, -123456.0};
  for (int i = 0; i < 5; i++) {
    _BitInt(40) a = (_BitInt(40))d[i];
    _BitInt(90) b = (_BitInt(90))d[i] * 1000000007wb;
    unsigned _BitInt(12) c = (unsigned _BitInt(12))a;
    printf("%lld %.10g %.6g %u %d %d %lld\n", (long long)a, (double)b, (double)(float)a, (unsigned)c, (_Bool)a,
           (int)(b % 1000wb), (long long)(b >> 20));
  }
  return 0;
}
