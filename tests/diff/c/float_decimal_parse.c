// strtod, strtof, strtold and printing back: hexadecimal floats, denormals, overflow, rounding to even.
#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
int main(void) {
  const char *s[] = {"0.1",     "1e-320", "1.7976931348623157e308", "1e400", "0x1.8p3", "9007199254740993", "-0", "inf",
                     "2.5e-45", "123abc"};
  for (int i = 0; i < 10; i++) {
    char *e;
    errno = 0;
    double d = strtod(s[i], &e);
    printf("%a %d %a %.21Lg %d\n", d, (int)(e - s[i]), strtof(s[i], 0), strtold(s[i], 0), d > 1e308);
  }
  return 0;
}
