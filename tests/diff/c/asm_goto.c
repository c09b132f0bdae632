// exit: 2
// asm goto (callbr) with an empty body and label operands, and inline assembly with output only used on one path.
#include <stdio.h>
static int f(int x) {
  __asm__ goto("testl %0, %0\n\tjz %l1" : : "r"(x) : "cc" : zero);
  return 1;
zero:
  return 2;
}
static inline int likely_static(void) {
  __asm__ goto("" : : : : no);
  return 0;
no:
  return 1;
}
int main(void) {
  volatile int a = 0, b = 5;
  printf("%d %d %d\n", f(a), f(b), likely_static());
  return f(a);
}
