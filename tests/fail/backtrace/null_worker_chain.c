// Guest frames of a fault on a worker: those of the worker, then those that forked its team.
// levels: O0 O2
// env: OMP_NUM_THREADS=3
// signal: 11
// stderr-has: null_worker_chain.c:15
// stderr-has: #0 touch at tests/fail/backtrace/null_worker_chain.c:15
// stderr-has: #1 middle at tests/fail/backtrace/null_worker_chain.c:18
// stderr-has: forked at
// stderr-has: solve at tests/fail/backtrace/null_worker_chain.c:22
// stderr-has: main at tests/fail/backtrace/null_worker_chain.c:30
int omp_get_thread_num(void);
#include <stdio.h>
int *volatile nowhere;
volatile int sink;
__attribute__((noinline)) static void touch(void) { sink = *nowhere; }

__attribute__((noinline)) static void middle(int n) {
  touch(), sink = n;
}

__attribute__((noinline)) static void solve(int n) {
#pragma omp parallel
  if (omp_get_thread_num() == 2)
    middle(n), sink = 2;
#pragma omp barrier
  sink = n;
}

int main(void) {
  solve(4), sink = 1;
  return 0;
}
