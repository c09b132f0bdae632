// _FORTIFY_SOURCE=2: %n in a writable format string.
// levels: O1 O2
// flags: -D_FORTIFY_SOURCE=2 -Wno-format -Wno-format-security
// signal: 6
// stdout: 5
// stderr-has: %n in writable segment detected
#include <stdio.h>
static char format[] = "text %d%n\n";
int main(void) {
  int n = 0;
  printf("%d%n\n", 5, &n);
  fflush(stdout);
  printf(format, 5, &n);
  puts("not reached");
  return 0;
}
