// A routine that saves the registers of its caller in nine words, as setjmp does.
__attribute__((naked, noinline, returns_twice)) int save(void *buffer) {
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
