// Parallel regions, tasks and nested switches that start on a fiber's stack, with the team's other members on their own.
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include <ucontext.h>
static ucontext_t home, fiber[3];
static long sums[3];
__attribute__((noinline)) static long fib(int n) {
  long a, b;
  if (n < 2) return n;
#pragma omp task shared(a) if (n > 6)
  a = fib(n - 1);
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}
static void body(int me) {
  for (int round = 0; round < 3; round++) {
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 1000; i++) sum += i * (me + 1);
    sums[me] += sum;
    swapcontext(&fiber[me], &home);
#pragma omp parallel
#pragma omp single
    sums[me] += fib(12);
    swapcontext(&fiber[me], &home);
  }
}
int main(void) {
  for (int i = 0; i < 3; i++) {
    getcontext(&fiber[i]);
    fiber[i].uc_stack.ss_size = 256 << 10;
    fiber[i].uc_stack.ss_sp = malloc(fiber[i].uc_stack.ss_size);
    fiber[i].uc_link = &home;
    makecontext(&fiber[i], (void (*)(void))body, 1, i);
  }
  for (int round = 0; round < 7; round++)
    for (int i = 0; i < 3; i++) {
      swapcontext(&home, &fiber[i]);
      int n = 0;
#pragma omp parallel for reduction(+ : n)
      for (int k = 0; k < 10; k++) n++;
      CHECK(n == 10);
    }
  for (int i = 0; i < 3; i++) CHECK(sums[i] == 3 * (499500l * (i + 1) + 144));
  return DONE();
}
