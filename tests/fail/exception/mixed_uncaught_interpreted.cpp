// An uncaught exception of an interpreted function below compiled ones.
// options: --tier=opt
// env: OMPVM_INTERPRET=interp_
// levels: O0 O2
// signal: 6
// stderr-has: of type `int`, at tests/fail/exception/mixed_uncaught_interpreted.cpp:7
__attribute__((noinline)) void interp_throw() { throw 1; }
__attribute__((noinline)) void middle() { interp_throw(); }
int main() {
  middle();
  return 0;
}
