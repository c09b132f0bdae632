// An uncaught exception of a compiled function below an interpreted one, in a region.
// options: --tier=opt
// env: OMPVM_INTERPRET=interp_
// env: OMP_NUM_THREADS=2
// levels: O0 O2
// signal: 6
// stderr-has: of type `int`, at tests/fail/exception/mixed_uncaught_compiled.cpp:9
// stderr-has: in `thrower`, thread 1
__attribute__((noinline)) void thrower() { throw 1; }
__attribute__((noinline)) void interp_middle() { thrower(); }
int main() {
#pragma omp parallel
  {
    int n = 0;
#pragma omp for schedule(static)
    for (int i = 0; i < 2; i++) n = i;
    if (n == 1) interp_middle();
  }
  return 0;
}
