// Reads through a null pointer in serial code.
// levels: O0 O2
// signal: 11
// stderr-has: null_read.c:10
// stdout: before
#include <stdio.h>
int *volatile nowhere;
int main(void) {
  puts("before"), fflush(stdout);
  int x = *nowhere;
  printf("%d\n", x);
}
