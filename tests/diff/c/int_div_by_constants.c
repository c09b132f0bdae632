// Division by constants (clang turns these into multiplications and shifts).
#include <stdio.h>
static volatile int s[] = {0, 1, -1, 6, -7, 12345, -98765, 2147483647, -2147483647 - 1};
static volatile unsigned long long u[] = {0, 1, 9, 10, 999999999999ull, ~0ull, 1ull << 63};
int main(void) {
  for (int i = 0; i < 9; i++) {
    int x = s[i];
    printf("%d %d %d %d %d %d %d\n", x / 3, x / 7, x / 10, x / -5, x / 16, x % 16, x % 1000);
  }
  for (int i = 0; i < 7; i++) {
    unsigned long long x = u[i];
    printf("%llu %llu %llu %llu\n", x / 3, x / 7, x / 1000000007, x % 10);
  }
  return 0;
}
