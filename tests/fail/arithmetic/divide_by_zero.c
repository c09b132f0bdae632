// Integer division by zero in serial code.
// levels: O0 O2
// signal: 8
// stderr-has: divide_by_zero.c:7
volatile int zero, result;
int main(void) {
  result = 7 / zero;
  return 0;
}
