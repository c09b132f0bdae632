// exit: 17
// The exit status is the low eight bits of main's result.
#include <stdio.h>
int main(int argc, char **argv) {
  (void)argv;
  puts("256 + 17");
  return 272 + argc;
}
