// A native function with another calling convention than C's; here one of file-scope assembly.
// exit: 125
// stderr-has: a native function with the calling convention `ms_abi`
// stderr-has: native_convention.c:13
#include <stdio.h>

__asm__(".text\n.globl twice\n.type twice, @function\ntwice: lea (%rcx,%rcx), %eax\n ret\n");

__attribute__((ms_abi)) int twice(int n);

int main(void) {
  int n = 21;
  printf("%d\n", twice(n));
  return 0;
}
