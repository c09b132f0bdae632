// Assembly that saves its caller's registers, as setjmp does: only compiled code can run the program.
// options: --tier=baseline
// exit: 125
// stderr-has: assembly that saves the caller's registers, as `setjmp` does, in the baseline tier
// stderr-has: in function `save`
#include <stdio.h>
__attribute__((naked, noinline)) int save(void **buffer) {
  __asm__("movq (%rsp), %rax\n\t"
          "movq %rax, 0(%rdi)\n\t"
          "movq %rsp, 8(%rdi)\n\t"
          "movq %rbp, 16(%rdi)\n\t"
          "movq %rbx, 24(%rdi)\n\t"
          "movq %r12, 32(%rdi)\n\t"
          "movq %r13, 40(%rdi)\n\t"
          "movq %r14, 48(%rdi)\n\t"
          "movq %r15, 56(%rdi)\n\t"
          "xorl %eax, %eax\n\t"
          "retq");
}
int main(void) {
  void *buffer[8];
  printf("%d\n", save(buffer));
  return 0;
}
