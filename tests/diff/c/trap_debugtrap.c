// signal: 5
// __builtin_debugtrap dies by SIGTRAP when nobody debugs.
#include <stdio.h>
int main(void) {
  puts("before");
  fflush(stdout);
  __builtin_debugtrap();
  return 0;
}
