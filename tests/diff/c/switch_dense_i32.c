// exit: 19
// A dense switch over 32-bit integers, with fall-through and default in the middle.
#include <stdio.h>
__attribute__((noinline)) static int f(int x) {
  int r = 0;
  switch (x) {
  case 0: r += 1;
  case 1: r += 10; break;
  case 2: r = 7; break;
  default: r = -1; break;
  case 3:
  case 4: r = x * 100; break;
  case 5: r = 55;
  case 6: r += 6;
  case 7: r += 7; break;
  case 8: return 88;
  case 9: r = 3; break;
  case 10: r = 2;
  }
  return r + 1;
}
int main(void) {
  for (volatile int i = -2; i < 14; i++) printf("%d ", f(i));
  puts("");
  return f(8) - f(5);
}
