// Endless recursion of a worker thread, whose stack has its own limit.
// levels: O0 O2
// signal: 11
// stderr-has: recursion_worker.c:
#include <omp.h>
volatile int sink;
__attribute__((noinline)) static int deeper(int n) {
  volatile char pad[256];
  pad[n & 255] = n;
  return deeper(n + 1) + pad[n & 255];
}
int main(void) {
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) sink = deeper(0);
  return 0;
}
