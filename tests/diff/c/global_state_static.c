// flags: -Wno-unsequenced
// exit: 13
// Static locals, file statics, extern tentative definitions, const tables, volatile and shadowing.
#include <stdio.h>
int tentative;
int tentative;
extern int later;
static int counter(void) {
  static int n = 5;
  static int *p = &n;
  return ++*p;
}
static int x = 1;
static int shadow(int x) {
  {
    int x = 10;
    x++;
    if (x) {
      extern int later;
      return x + later;
    }
  }
  return x;
}
int later = 30;
int main(void) {
  volatile int v = 1;
  v += v++ ? 2 : 3;
  int a = counter(), b = counter();
  printf("%d %d %d %d %d %d\n", tentative, a, b, x, shadow(2), v > 0);
  return a + b;
}
