// The C library's own check aborts: the freed pointer is inside of a block, after a size of 0.
// levels: O0 O2
// signal: 6
// stderr-has: the program called abort at tests/fail/abort/invalid_pointer.c:10
#include <stdlib.h>
char *volatile block;
int main(void) {
  block = calloc(100000, 1);
  block += 24;
  free(block);
  return 0;
}
