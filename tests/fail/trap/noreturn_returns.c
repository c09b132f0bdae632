// A function declared noreturn that returns: the caller's unreachable is executed.
// flags: -mllvm -trap-unreachable -Wno-invalid-noreturn
// levels: O0
// signal: 4
// stderr-has: noreturn_returns.c:
_Noreturn static void leaves(int x) { (void)x; }
int main(void) {
  leaves(1);
}
