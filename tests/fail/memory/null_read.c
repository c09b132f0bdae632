// Reads through a null pointer in serial code.
// signal: 11
// stderr-has: null_read.c:9
// stdout: before
#include <stdio.h>
int *volatile nowhere;
int main(void) {
  puts("before"), fflush(stdout);
  int x = *nowhere;
  printf("%d\n", x);
}
