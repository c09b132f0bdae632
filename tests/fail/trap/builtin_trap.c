// __builtin_trap in serial code.
// signal: 4
// stderr-has: builtin_trap.c:7
volatile int yes = 1;
int main(void) {
  if (yes)
    __builtin_trap();
  return 0;
}
