// exit: 23
// noreturn functions, guarded unreachable, exit within nested calls of conditional operators.
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
static noreturn void die(int c) {
  printf("dying %d\n", c);
  exit(c);
}
static int f(int x) {
  switch (x) {
  case 1: return 10;
  case 2: return 20;
  }
  die(x + 20);
}
static int g(int x) { return x > 2 ? (die(99), 0) : x; }
int main(void) {
  volatile int a = 1;
  printf("%d %d\n", f(a) + f(a + 1), g(a));
  return f(a + 2);
}
