// An exception that leaves a noexcept function.
// levels: O0 O2
// signal: 6
// stderr-has: terminate
volatile int yes = 1;
__attribute__((noinline)) static void thrower() { if (yes) throw 1; }
__attribute__((noinline)) static void promise() noexcept { thrower(); }
int main() {
  try { promise(); } catch (int) { return 1; }
  return 0;
}
