// Endless recursion on the main thread.
// levels: O0 O2
// signal: 11
// stderr-has: recursion_main.c:
volatile int depth;
__attribute__((noinline)) static int deeper(int n) {
  volatile char pad[256];
  pad[n & 255] = n;
  depth = n;
  return deeper(n + 1) + pad[n & 255];
}
int main(void) { return deeper(0); }
