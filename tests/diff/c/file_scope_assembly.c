// Assembly outside of functions: routines with and without .globl, data, its own section and bounds of one, a note, a
// constructor, references to the program's functions and variables, those of this file alone included.
#include <stdio.h>
#include <stdlib.h>

__asm__(".text\n"
        ".globl add_in_assembly\n"
        ".type add_in_assembly,@function\n"
        "add_in_assembly:\n"
        "  .cfi_startproc\n"
        "  leal (%rdi,%rsi), %eax\n"
        "  addl counter(%rip), %eax\n"
        "  incl counter(%rip)\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size add_in_assembly, . - add_in_assembly\n"
        "local_routine:\n"
        "  pushq %rbx\n"
        "  movl %edi, %ebx\n"
        "  call own_function\n"
        "  addl %ebx, %eax\n"
        "  popq %rbx\n"
        "  ret\n");
__asm__(".data\n.globl words\n.balign 8\nwords: .quad 11, 22, own_function, words+8\n"
        ".bss\n.globl scratch\n.balign 16\nscratch: .zero 4096\n"
        ".section .rodata\n.globl text_in_assembly\ntext_in_assembly: .asciz \"text\"\n"
        ".text\n");
__asm__(".pushsection .note.test,\"a\",@note\n.long 4, 4, 1\n.asciz \"abc\"\n.long 7\n.popsection");
__asm__(".pushsection listed,\"aw\"\n.globl in_list\nin_list: .quad 5, 6, 7\n.popsection");
__asm__(".pushsection .init_array,\"aw\"\n.quad early\n.popsection");
__asm__(".weak nobody_has_it\n.hidden counter\n.ident \"test\"");
__asm__(".globl call_through\ncall_through:\n  movq pointer(%rip), %rax\n  jmp *%rax\n"
        ".globl call_libc\ncall_libc:\n  subq $8, %rsp\n  call abs@PLT\n  addq $8, %rsp\n  ret\n");

int counter = 100;
static int started;
int add_in_assembly(int, int), local_routine(int), call_through(int), call_libc(int);
extern long words[4], in_list[3], __start_listed[], __stop_listed[];
extern char scratch[4096], text_in_assembly[];

__attribute__((used, noinline)) static int own_function(int x) { return x * 2; }
__attribute__((used)) static int third(int x) { return x / 3; }
__attribute__((used)) static int (*pointer)(int) = third;
__attribute__((used)) static void early(void) { started++; }

static int compare(const void *a, const void *b) { return add_in_assembly(*(const int *)a, -*(const int *)b) - (counter - 1); }

int main(void) {
  printf("%d %d %d\n", add_in_assembly(1, 2), add_in_assembly(3, 4), counter);
  printf("%d %d %d\n", local_routine(5), call_through(30), call_libc(-9));
  printf("%ld %ld %d %d\n", words[0], words[1], words[2] == (long)own_function, words[3] == (long)&words[1]);
  printf("%d\n", ((int (*)(int))words[2])(21));
  scratch[4000] = 3;
  printf("%s %d %d\n", text_in_assembly, scratch[0], scratch[4000]);
  long sum = 0;
  for (long *p = __start_listed; p < __stop_listed; p++)
    sum = sum * 10 + *p;
  printf("%ld %ld %d\n", sum, in_list[2], started);
  int (*f)(int, int) = add_in_assembly;
  int list[] = {5, 3, 9, 1, 7};
  counter = 0;
  qsort(list, 5, sizeof *list, compare);
  for (int i = 0; i < 5; i++)
    printf("%d ", list[i]);
  counter = 50;
  long total = 0;
  for (int i = 0; i < 1000; i++)
    total += f(i, -i);
  printf("%ld\n", total);
}
