// signal: 4
// __builtin_trap dies by SIGILL.
#include <stdio.h>
int main(void) {
  puts("about to trap");
  fflush(stdout);
  volatile int x = 1;
  if (x) __builtin_trap();
  return 0;
}
