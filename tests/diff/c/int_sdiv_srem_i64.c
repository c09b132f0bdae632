// Signed 64-bit division and remainder at edge values.
#include <stdio.h>
#include <stdint.h>
static volatile int64_t num[] = {0, 1, -1, 7, -7, 1000000007, INT64_MAX, INT64_MIN, INT64_MIN + 1, 0x123456789abcdef};
static volatile int64_t den[] = {1, -1, 2, -2, 10, -10, 641, INT64_MAX, INT64_MIN, 0x100000000};
int main(void) {
  for (int i = 0; i < 10; i++) {
    for (int j = 0; j < 10; j++) {
      int64_t a = num[i], b = den[j];
      if (a == INT64_MIN && b == -1) continue;
      printf("%lld,%lld ", (long long)(a / b), (long long)(a % b));
    }
    puts("");
  }
  return 0;
}
