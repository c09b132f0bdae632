// abort() in serial code.
// levels: O0 O2
// signal: 6
// stdout: before
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  puts("before"), fflush(stdout);
  abort();
}
