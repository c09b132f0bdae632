// The C library's own check aborts inside malloc, with its lock held: the size of the remaining
// memory was overwritten.
// levels: O0 O2
// signal: 6
// stderr-has: the program called abort at tests/fail/abort/corrupted_size.c:12
#include <stdlib.h>
long *volatile block;
int main(void) {
  block = malloc(5000);
  for (int i = 625; i < 640; i++)
    block[i] = -1;
  block = malloc(3000000 / 32);
  return block == 0;
}
