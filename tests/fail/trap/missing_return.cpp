// A C++ function that flows off its end at -O0: a trap and an unreachable.
// levels: O0
// flags: -Wno-return-type
// signal: 4
// stderr-has: missing_return.cpp:
volatile int yes = 1;
static int flows(int x) { if (x == 0) return 1; }
int main() { return flows(yes); }
