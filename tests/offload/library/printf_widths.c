// Field widths of characters and pointers.
// options: --device=emulated
// stdout: [    a][b  ][c]
// stdout: [      0x1234][0x5   ]
#include "../../check.h"
int main(void) {
#pragma omp target
  {
    printf("[%5c][%-3c][%c]\n", 'a', 'b', 'c');
    printf("[%12p][%-6p]\n", (void *)0x1234, (void *)0x5);
  }
  return 0;
}
