// abort() in serial code.
// signal: 6
// stdout: before
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  puts("before"), fflush(stdout);
  abort();
}
