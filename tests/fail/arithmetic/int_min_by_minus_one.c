// INT_MIN / -1 overflows and traps on x86-64.
// levels: O0 O2
// signal: 8
// stderr-has: int_min_by_minus_one.c:8
#include <limits.h>
volatile int lowest = INT_MIN, minus = -1, result;
int main(void) {
  result = lowest / minus;
  return 0;
}
