// Undefined behavior caught by -fsanitize-trap: llvm.ubsantrap at the shift.
// levels: O0 O2
// flags: -fsanitize=undefined -fsanitize-trap=undefined
// signal: 4
// stderr-has: sanitizer_trap.c
volatile int amount = 40, result;
int main(void) {
  result = 1 << amount;
  return 0;
}
