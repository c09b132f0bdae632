// One lane of a vector divides by zero.
// levels: O0 O2
// signal: 8
// stderr-has: vector_division.c:9
#include <stdio.h>
typedef int V __attribute__((vector_size(16)));
volatile int zero;
__attribute__((noinline)) static V divide(V a, V b) {
  return a / b;
}
int main(void) {
  V b = {1, 2, zero, 4};
  V q = divide((V){4, 5, 6, 7}, b);
  printf("%d\n", q[0]);
  return 0;
}
