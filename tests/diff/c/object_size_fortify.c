// exit: 28
// levels: O2
// flags: -D_FORTIFY_SOURCE=2 -U__OPTIMIZE_SIZE__ -Wno-#warnings
// __builtin_object_size, constant_p, fortified string functions (_chk variants).
#include <stdio.h>
#include <string.h>
int main(void) {
  char b[32];
  char *volatile p = b;
  volatile size_t n = 5;
  strcpy(b, "fort");
  strncat(b, "ified", n);
  memcpy(b + 20, b, n);
  b[25] = 0;
  sprintf(b + 26, "%d", (int)n);
  printf("%s %s %s %zu %zu\n", b, b + 20, p + 26, __builtin_object_size(b, 0), __builtin_object_size(p, 0) + 1);
  snprintf(b, sizeof b, "%s-%zu", "x", n);
  puts(b);
  return (int)__builtin_object_size(b + 4, 1);
}
