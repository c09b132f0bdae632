// Inline assembly that the assembler refuses ends the program when it is reached, with the reason and the line.
// levels: O0 O2
// options: --tier=interp
// native: the assembler refuses it
// exit: 125
// stderr-has: bad_assembly.c:13
// stderr-has: frobnicate
// stdout: before
// stdout: 0
#include <stdio.h>
__attribute__((noinline)) static int odd(int x) {
  if (x & 1)
    __asm__ volatile("frobnicate %0" : "+r"(x));
  return x;
}
int main(int argc, char **argv) {
  (void)argv;
  puts("before");
  printf("%d\n", odd(argc - 1)), fflush(stdout);
  return odd(argc);
}
