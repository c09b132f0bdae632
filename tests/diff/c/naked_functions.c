// Functions without a frame: called directly and through pointers, by assembly and by native code; also static ones.
#include <stdio.h>
#include <stdlib.h>

__attribute__((naked)) int sum(int a, int b) { __asm__("leal (%rdi,%rsi), %eax\n\tret"); }
__attribute__((naked)) static long three(void) {
  __asm__("movl $3, %eax");
  __asm__("ret");
}
__attribute__((naked)) static int order(const void *a, const void *b) {
  __asm__("movl (%rdi), %eax\n\tsubl (%rsi), %eax\n\tret");
}
static int helper(int x) __attribute__((used));
static int helper(int x) { return x * 5; }
__attribute__((naked)) static int tail(int x) { __asm__("incl %edi\n\tjmp helper"); }
__attribute__((naked, weak)) int weak_one(void) { __asm__("movl $9, %eax\n\tret"); }

int main(void) {
  int list[] = {5, 2, 8, 1}, total = 0;
  for (int i = 0; i < 1000; i++)
    total += sum(i, -1);
  int (*f)(int, int) = sum;
  qsort(list, 4, sizeof *list, order);
  printf("%d %d %ld %d %d\n", total, f(3, 4), three(), tail(6), weak_one());
  printf("%d %d %d %d %d\n", list[0], list[1], list[2], list[3], f == sum);
}
