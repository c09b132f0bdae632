// OpenMP 5.2, section 10.1: recursion inside a region uses each thread's own stack.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static long fib(int n) { volatile long pad[8]; pad[n & 7] = n; return n < 2 ? pad[n & 7] : fib(n - 1) + fib(n - 2); }
int main(void) {
  long result[4];
#pragma omp parallel num_threads(4)
  result[omp_get_thread_num()] = fib(12 + omp_get_thread_num());
  CHECK(result[0] == 144 && result[1] == 233 && result[2] == 377 && result[3] == 610);
  return DONE();
}
