// The C library's own check aborts: what is freed is inside of a block.
// levels: O0 O2
// signal: 6
// stderr-has: the program called abort at tests/fail/abort/invalid_pointer.c:10
#include <stdlib.h>
char *volatile block;
int main(void) {
  block = malloc(100000);
  block += 24;
  free(block);
  return 0;
}
