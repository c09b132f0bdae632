// exit: 6
// setjmp and longjmp: values, volatile locals kept, the 0-becomes-1 rule, through several frames.
#include <stdio.h>
#include <setjmp.h>
static jmp_buf jb;
__attribute__((noinline)) static void deep(int n, int v) {
  char pad[100];
  pad[n % 100] = (char)n;
  if (n == 0) longjmp(jb, v);
  deep(n - 1, v + pad[n % 100] * 0);
}
int main(void) {
  volatile int count = 0;
  int r = setjmp(jb);
  printf("%d %d\n", r, count);
  count++;
  if (count < 6) deep(count * 20, count - 1);
  switch (setjmp(jb)) {
  case 0: puts("set"); deep(3, 9);
  case 9:
    puts("nine");
    deep(2, 4);
    break;
  case 4: puts("four"); break;
  default: puts("?");
  }
  if (!setjmp(jb))
    deep(1, 3);
  else
    puts("end");
  return count;
}
