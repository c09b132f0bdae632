// The C library's own check aborts inside free, with its lock held: the size of the block was
// overwritten, so the next block seems to lie in the middle of this one.
// levels: O0 O2
// signal: 6
// stderr-has: the program called abort at tests/fail/abort/corrupted_size.c:11
#include <stdlib.h>
static long *volatile block;
int main(void) {
  block = calloc(625, sizeof(long));
  block[-1] -= 2048;
  free(block);
  return 0;
}
