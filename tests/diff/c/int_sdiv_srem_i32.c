// Signed 32-bit division and remainder at edge values.
#include <stdio.h>
#include <limits.h>
static volatile int num[] = {0, 1, -1, 7, -7, 100, -100, INT_MAX, INT_MIN, INT_MIN + 1};
static volatile int den[] = {1, -1, 2, -2, 3, -3, 7, INT_MAX, INT_MIN};
int main(void) {
  for (int i = 0; i < 10; i++) {
    for (int j = 0; j < 9; j++) {
      int a = num[i], b = den[j];
      if (a == INT_MIN && b == -1) continue;
      printf("%d/%d=%d,%d ", a, b, a / b, a % b);
    }
    puts("");
  }
  return 0;
}
