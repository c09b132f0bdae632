// OMP_STACKSIZE=256K is too small for a private array of 4 MiB that a worker fills.
// levels: O0 O2
// env: OMP_STACKSIZE=256K
// signal: 11
// stderr-has: stack overflow
// stderr-has: small_worker_stack.c:
#include <omp.h>
#include <string.h>
volatile int sink;
__attribute__((noinline)) static void fill(void) {
  volatile char big[4 << 20];
  for (int i = (4 << 20) - 1; i >= 0; i -= 512) big[i] = i;
  sink = big[511];
}
int main(void) {
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) fill();
  return 0;
}
