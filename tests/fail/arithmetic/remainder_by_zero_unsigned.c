// Unsigned 64-bit remainder by zero.
// signal: 8
// stderr-has: remainder_by_zero_unsigned.c:6
volatile unsigned long zero, result;
int main(void) {
  result = 7 % zero;
  return 0;
}
