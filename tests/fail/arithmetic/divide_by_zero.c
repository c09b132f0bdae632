// Integer division by zero in serial code.
// signal: 8
// stderr-has: divide_by_zero.c:6
volatile int zero, result;
int main(void) {
  result = 7 / zero;
  return 0;
}
