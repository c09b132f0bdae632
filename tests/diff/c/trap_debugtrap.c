// signal: 5
// __builtin_debugtrap dies by SIGTRAP without a debugger.
#include <stdio.h>
int main(void) {
  puts("before");
  fflush(stdout);
  __builtin_debugtrap();
  return 0;
}
