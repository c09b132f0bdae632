// Guest frames through two nested teams: a worker of the inner one, which a worker of the outer one forked.
// levels: O0 O2
// env: OMP_NUM_THREADS=2,2 OMP_MAX_ACTIVE_LEVELS=2
// signal: 8
// stderr-has: #0 divide at tests/fail/backtrace/nested_workers.c:13
// stderr-has: inner at tests/fail/backtrace/nested_workers.c:16
// stderr-has: outer at tests/fail/backtrace/nested_workers.c:23
// stderr-has: main at tests/fail/backtrace/nested_workers.c:30
// stderr-has: forked at
int omp_get_thread_num(void);
volatile int zero, sink;
__attribute__((noinline)) static void divide(void) {
  sink = 5 / zero;
}
__attribute__((noinline)) static void inner(void) {
#pragma omp parallel
  if (omp_get_thread_num() == 1)
    divide(), sink = 1;
  sink = 2;
}

__attribute__((noinline)) static void outer(void) {
#pragma omp parallel
  if (omp_get_thread_num() == 1)
    inner(), sink = 3;
  sink = 4;
}

int main(void) {
  outer(), sink = 5;
  return 0;
}
