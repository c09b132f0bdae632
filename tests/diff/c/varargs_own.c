// Own variadic functions: ints, longs, doubles, pointers, chars and floats promoted, more than the registers hold.
#include <stdio.h>
#include <stdarg.h>
__attribute__((noinline)) static double mix(const char *f, ...) {
  va_list ap;
  va_start(ap, f);
  double s = 0;
  for (; *f; f++) switch (*f) {
    case 'i': s = s * 2 + va_arg(ap, int); break;
    case 'l': s = s * 2 + (double)va_arg(ap, long); break;
    case 'd': s = s * 2 + va_arg(ap, double); break;
    case 's': {
      const char *p = va_arg(ap, const char *);
      while (*p) s += *p++;
      break;
    }
    case 'u': s += va_arg(ap, unsigned); break;
    case 'p': s += *va_arg(ap, int *); break;
    }
  va_end(ap);
  return s;
}
static double (*volatile fp)(const char *, ...) = mix;
int main(void) {
  int k = 77;
  char c = 'x';
  float fl = 0.5f;
  short sh = -3;
  printf("%.10g\n", mix("iiiiiiiiii", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  printf("%.10g\n", mix("dddddddddddd", 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12.));
  printf("%.10g\n", fp("idlsupididididididididl", 1, 2.5, 3l << 33, "abc", 4000000000u, &k, 1, .5, 2, .25, 3, .125, 4,
                       1., 5, 2., 6, 3., 7, 4., 8, 5., 1l << 40));
  printf("%.10g\n", fp("idii", c, fl, sh, (signed char)-1));
  return 0;
}
