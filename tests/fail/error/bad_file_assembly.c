// Assembly outside of functions that the assembler refuses: one message with the line, and nothing runs.
// levels: O0 O2
// native: the assembler refuses it
// exit: 125
// stderr-has: assembly outside of functions
// stderr-has: frobnicate
#include <stdio.h>
__asm__(".globl f\nf:\n  movl $1, %eax\n  frobnicate %eax\n  ret\n");
int f(void);
int main(void) { printf("%d\n", f()); }
