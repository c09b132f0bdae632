// A worker overruns an array of ints in a frame that -fstack-protector-strong guards.
// levels: O0 O2
// flags: -fstack-protector-strong -fno-builtin
// signal: 6
// stderr-has: stack smashing detected
// stderr-has: strong_ints_worker.c:
#include <omp.h>
volatile int sink;
__attribute__((noinline)) static int fill(int n) {
  int numbers[4];
  for (int i = 0; i < n; i++) ((volatile int *)numbers)[i] = i;
  return numbers[n & 3];
}
int main(void) {
#pragma omp parallel num_threads(2)
  {
    sink = fill(4);
#pragma omp barrier
    if (omp_get_thread_num() == 1) sink = fill(24);
#pragma omp barrier
  }
  return 0;
}
