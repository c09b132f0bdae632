// The C library's own check aborts: a block freed twice.
// levels: O0 O2
// signal: 6
// stderr-has: the program called abort at tests/fail/abort/double_free.c:10
#include <stdlib.h>
void *volatile block;
int main(void) {
  block = malloc(100000);
  void *volatile other = malloc(100000);
  free(block), free(block);
  free(other);
  return 0;
}
