// Unsigned 64-bit remainder by zero.
// levels: O0 O2
// signal: 8
// stderr-has: remainder_by_zero_unsigned.c:7
volatile unsigned long zero, result;
int main(void) {
  result = 7 % zero;
  return 0;
}
