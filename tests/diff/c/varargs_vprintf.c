// The guest's va_list given to libc: vprintf, vsnprintf, vfprintf, vsscanf.
#include <stdio.h>
#include <stdarg.h>
#include <string.h>
__attribute__((format(printf, 1, 2))) static int out(const char *f, ...) {
  va_list ap;
  va_start(ap, f);
  int n = vprintf(f, ap);
  va_end(ap);
  return n;
}
__attribute__((format(printf, 3, 4))) static int str(char *b, size_t n, const char *f, ...) {
  va_list ap, c;
  va_start(ap, f);
  va_copy(c, ap);
  int k = vsnprintf(0, 0, f, c);
  va_end(c);
  int r = vsnprintf(b, n, f, ap);
  va_end(ap);
  return k * 100 + r;
}
static int in(const char *s, const char *f, ...) {
  va_list ap;
  va_start(ap, f);
  int n = vsscanf(s, f, ap);
  va_end(ap);
  return n;
}
static void two(FILE *o, const char *f, ...) {
  va_list ap;
  va_start(ap, f);
  int k = va_arg(ap, int);
  while (k--) fputc('.', o);
  vfprintf(o, f, ap);
  va_end(ap);
}
int main(void) {
  char b[64];
  int n = out("%d %s %g %Lg %c %lld %u %x %d %d %f %f\n", 1, "two", 3.5, 4.25L, '5', 6ll, 7u, 8, 9, 10, 11., 12.);
  int k = str(b, 10, "%s-%d-%f", "abcdef", 42, 1.5);
  printf("%d %d %s %zu\n", n, k, b, strlen(b));
  int x;
  double d;
  char w[10];
  n = in("12 word 3.75", "%d %9s %lf", &x, w, &d);
  two(stdout, "%d %s %g %d\n", 3, x, w, d, n);
  return 0;
}
