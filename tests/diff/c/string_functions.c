// flags: -D_GNU_SOURCE
// String functions of libc: search, split, compare, convert, copy.
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <stdlib.h>
#include <ctype.h>
int main(void) {
  char b[64] = "alpha,beta;;gamma", *s, *st;
  for (s = strtok_r(b, ",;", &st); s; s = strtok_r(0, ",;", &st)) printf("%s|", s);
  char c[32];
  strcpy(c, "abc");
  strcat(c, "def");
  strncat(c, "ghij", 2);
  printf("%s %zu %s %s %s\n", c, strlen(c), strchr(c, 'd'), strrchr("a.b.c", '.'), strstr("haystack", "st"));
  printf("%d %d %d %d %zu %zu %s\n", strcmp("a", "b") < 0, strncmp("abcx", "abcy", 3), strcasecmp("HeLLo", "hEllO"),
         memcmp("a\0b", "a\0c", 3) < 0, strspn("aabbc", "ab"), strcspn("hello", "l"), strpbrk("keyed", "dy"));
  char *e;
  long l = strtol("0x1fz", &e, 16);
  printf("%ld %s %lu %d %g %lld\n", l, e, strtoul("777", 0, 8), atoi("-42x"), strtod("1e-3abc", &e),
         strtoll("-9223372036854775808", 0, 10));
  for (s = c; *s; s++) *s = (char)toupper(*s);
  char *d = strdup(c);
  printf("%s %d%d%d %p\n", d, !!isalpha('x'), !!isdigit('x'), !!isspace('\t'), memchr(d, 'Z', 3));
  free(d);
  memccpy(b, "stop here", 'p', 20);
  printf("%.4s\n", b);
  return 0;
}
