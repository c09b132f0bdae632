// A worker thread reads a wild address in the body of a dynamic loop, in a function it calls.
// levels: O0 O2
// signal: 11
// stderr-has: wild_read_worker.c:8
#include <omp.h>
volatile unsigned long address = 0x7abcdef01000ul;
__attribute__((noinline)) static int get(unsigned long at) {
  return *(volatile int *)at;
}
int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
  if (omp_get_thread_num() == 3) sum += get(address);
  return sum;
}
