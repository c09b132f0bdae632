// A system call that is refused to processes with several threads is not refused before the first region (if a
// container forbids it to all, that is another error), and the program continues as before.
// levels: O0 O2
// stdout: first 1 second 1
// stdout: 3 of 3, 499999500000
#define _GNU_SOURCE
#include "../../check.h"
#include <errno.h>
#include <sched.h>
#include <unistd.h>

static volatile long sum;

__attribute__((noinline)) static void work(void) {
  sum = 0;
  for (long i = 0; i < 1000000; i++)
    sum += i;
}

static int allowed(int flags) { return unshare(flags) == 0 || errno != EINVAL; }

int main(void) {
  int first = allowed(CLONE_NEWUSER);
  // Hot by now: it is compiled, and the compiling threads end again for the call.
  for (int i = 0; i < 20; i++)
    work();
  int second = allowed(CLONE_SIGHAND);
  printf("first %d second %d\n", first, second);
  work();
  int n = 0;
#pragma omp parallel num_threads(3) reduction(+ : n)
  n++;
  printf("%d of 3, %ld\n", n, sum);
}
