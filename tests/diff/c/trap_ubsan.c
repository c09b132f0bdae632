// no-sanitize: brings its own
// signal: 4
// flags: -fsanitize=signed-integer-overflow -fsanitize-trap=all
// -fsanitize-trap: checked arithmetic that ends in llvm.ubsantrap.
#include <stdio.h>
#include <limits.h>
__attribute__((noinline)) static int mul(int a, int b) { return a * b; }
int main(void) {
  volatile int big = INT_MAX / 2;
  printf("%d\n", mul(big, 2));
  fflush(stdout);
  return mul(big, 3);
}
