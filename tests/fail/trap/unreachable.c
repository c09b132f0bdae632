// An unreachable instruction executed at -O0 (native code is made to trap there).
// flags: -mllvm -trap-unreachable
// levels: O0
// signal: 4
// stderr-has: unreachable.c:
volatile int yes = 1;
int main(void) {
  if (yes)
    __builtin_unreachable();
  return 0;
}
