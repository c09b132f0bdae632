// __builtin_trap in serial code.
// levels: O0 O2
// signal: 4
// stderr-has: builtin_trap.c:8
volatile int yes = 1;
int main(void) {
  if (yes)
    __builtin_trap();
  return 0;
}
