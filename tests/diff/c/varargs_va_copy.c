// va_copy, passing va_list to other functions and by pointer, walking twice.
#include <stdio.h>
#include <stdarg.h>
static int sum(int n, va_list ap) {
  int s = 0;
  while (n--) s += va_arg(ap, int);
  return s;
}
__attribute__((noinline)) static int first(va_list *ap) { return va_arg(*ap, int); }
__attribute__((noinline)) static int twice(int n, ...) {
  va_list ap, b, c;
  va_start(ap, n);
  va_copy(b, ap);
  int s = sum(n, ap) * 1000;
  int x = va_arg(b, int);
  va_copy(c, b);
  x = x * 10 + va_arg(b, int);
  x = x * 10 + first(&c);
  x = x * 10 + first(&c);
  va_end(ap);
  va_end(b);
  va_end(c);
  return s + x;
}
int main(void) {
  printf("%d %d\n", twice(8, 1, 2, 3, 4, 5, 6, 7, 8), twice(3, 9, 8, 7));
  return 0;
}
